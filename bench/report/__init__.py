"""What was measured, for eyes: results kept between sessions, tables as text and as Markdown."""

from bench.report.kept import Results, keep, keep_agents, keep_deploys, read
from bench.report.markdown import document, of_agents, of_deploys, put
from bench.report.table import Table, tables, text

__all__ = [
    "Results",
    "Table",
    "document",
    "keep",
    "keep_agents",
    "keep_deploys",
    "of_agents",
    "of_deploys",
    "put",
    "read",
    "tables",
    "text",
]
