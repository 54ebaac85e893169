"""The contents of pages, page by page."""

from gitcfg.web.content.commits import Commit, CommitPage, CommitsPage, Count, Release, ReleasesPage
from gitcfg.web.content.fleet import CommitCount, ExpiringItem, Overview
from gitcfg.web.content.frame import Frame, Visitor
from gitcfg.web.content.history import BlamedStep, ExplainedParameter, HistoryEntry, HistoryPage
from gitcfg.web.content.nodes import (
    ClaimedKey,
    DueActions,
    FileRow,
    NodeConfiguration,
    NodePage,
    ParameterRow,
)
from gitcfg.web.content.plain import FilePage, LoginPage, ProblemPage, RedirectPage
from gitcfg.web.content.search import SearchGroup, SearchPage

__all__ = [
    "BlamedStep",
    "ClaimedKey",
    "Commit",
    "CommitCount",
    "CommitPage",
    "CommitsPage",
    "Count",
    "DueActions",
    "ExpiringItem",
    "ExplainedParameter",
    "FilePage",
    "FileRow",
    "Frame",
    "HistoryEntry",
    "HistoryPage",
    "LoginPage",
    "NodeConfiguration",
    "NodePage",
    "Overview",
    "ParameterRow",
    "ProblemPage",
    "RedirectPage",
    "Release",
    "ReleasesPage",
    "SearchGroup",
    "SearchPage",
    "Visitor",
]
