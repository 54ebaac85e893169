"""What was measured, for eyes: results kept between sessions, tables as text and as Markdown."""

from bench.report.kept import Results, keep, keep_agents, keep_deploys, keep_rules, read
from bench.report.markdown import document, of_agents, of_deploys, of_rules, put
from bench.report.table import Table, tables, text

__all__ = [
    "Results",
    "Table",
    "document",
    "keep",
    "keep_agents",
    "keep_deploys",
    "keep_rules",
    "of_agents",
    "of_deploys",
    "of_rules",
    "put",
    "read",
    "tables",
    "text",
]
