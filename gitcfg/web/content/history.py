"""The contents of the page of a node's history."""

from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.compile.trail import TrailStep
from gitcfg.explain.trail import Viewpoint
from gitcfg.web.content.commits import Commit
from gitcfg.web.places import SourceLinks

if TYPE_CHECKING:
    from gitcfg.history.effect import Effect


class BlamedStep(msgspec.Struct, frozen=True):
    """A step to a value, and the commit that made it; None: git does not tell.

    `deciding` are those of what was decided for rules.
    """

    step: TrailStep
    commit: Commit | None
    deciding: tuple[Commit | None, ...] = ()


class ExplainedParameter(msgspec.Struct, frozen=True):
    """A parameter of a node: its value, and the commits that made each step to it."""

    view: Viewpoint
    value: Any
    steps: tuple[BlamedStep, ...]


class HistoryEntry(msgspec.Struct, frozen=True):
    """A commit, and what of a node it changed."""

    commit: Commit
    effect: "Effect"


class HistoryPage(msgspec.Struct, frozen=True):
    """The commits that changed what a node gets, or one parameter of it; `older`: there are more.

    `explained` is the parameter as it is now; None: none is query for, or the node does not have it.
    """

    node: str
    param: str
    explained: ExplainedParameter | None
    turns: tuple[HistoryEntry, ...]
    older: bool
    places: SourceLinks
