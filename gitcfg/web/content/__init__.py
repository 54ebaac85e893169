"""What the pages say, page by page."""

from gitcfg.web.content.commits import Commit, CommitPage, CommitsPage, Count, Release, ReleasesPage
from gitcfg.web.content.fleet import Ending, Overview, Runs
from gitcfg.web.content.frame import Frame, Visitor
from gitcfg.web.content.history import Explained, HistoryPage, Made, Turn
from gitcfg.web.content.nodes import Claimed, Configured, Due, File, NodePage, Param
from gitcfg.web.content.plain import FilePage, LoginPage, OnwardPage, ProblemPage
from gitcfg.web.content.search import SearchPage, Sought

__all__ = [
    "Claimed",
    "Commit",
    "CommitPage",
    "CommitsPage",
    "Configured",
    "Count",
    "Due",
    "Ending",
    "Explained",
    "File",
    "FilePage",
    "Frame",
    "HistoryPage",
    "LoginPage",
    "Made",
    "NodePage",
    "OnwardPage",
    "Overview",
    "Param",
    "ProblemPage",
    "Release",
    "ReleasesPage",
    "Runs",
    "SearchPage",
    "Sought",
    "Turn",
    "Visitor",
]
