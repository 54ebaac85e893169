"""What a log is asked about."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:  # the names alone are needed early, and git's library is slow to import
    from gitcfg.git.history import History
    from gitcfg.history.effect import Effect
    from gitcfg.history.snapshot import Key, Snapshot


class Subject(StrEnum):
    """The kinds of things that have a log."""

    NODE = "node"
    PARAM = "param"
    FEATURE = "feature"
    GROUP = "group"

    @property
    def noun(self) -> str:
        """What people call it."""
        return "parameter" if self is Subject.PARAM else self.value


class Question(msgspec.Struct, frozen=True):
    """A thing by its kind and name; of a node one parameter alone, if `param` is given."""

    kind: Subject
    name: str
    param: str | None = None


class Result(Protocol):
    """The result of a thing at commits; a state is what is known of it at one of them."""

    def follow(self, older: Any, snapshot: "Snapshot", keys: "frozenset[Key]") -> Any:
        """The state at a neighbour of an older state's commit (None: of nothing), different in `keys`."""
        ...

    def effect(self, old: Any, new: Any) -> "Effect | None":
        """What is not the same in the results of two states (None: of nothing)."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


def result(history: "History", question: Question) -> Result:
    """What answers a question at commits."""
    from gitcfg.history.results.layer import LayerResult
    from gitcfg.history.results.node import NodeResult, NodeValue
    from gitcfg.history.results.param import ParamResult

    if question.kind is Subject.PARAM:
        return ParamResult(history, question.name)
    if question.kind is not Subject.NODE:
        return LayerResult(history, question.kind, question.name)
    if question.param is not None:
        return NodeValue(history, question.name, question.param)
    return NodeResult(history, question.name)
