"""Which nodes of some classes a condition selects: asked once of all nodes of which it says the same."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import msgspec

from gitcfg.cel import NODE_VARIABLES, CelProblem, CelStopped, Condition, compile_condition, members_asked
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Said
from gitcfg.compile.selection import NodeView, Selection, asked
from gitcfg.model import Ref

_OWN = ("node.name", "node.labels", "node.facts")
"""What nodes of one class may differ in."""


def chosen(fleet: Fleet, where: Ref, kinds: Iterable[NodeClass]) -> Selection:
    """The nodes of some classes that a condition selects: of a class at once, unless it asks for more."""
    looks = _compiled(where.name)
    if isinstance(looks, CelProblem):
        return Selection(problem=looks)
    if not looks.condition.names.isdisjoint(_OWN):
        every = [looks.view(name, fleet.roster.said(name), kind) for kind in kinds for name in kind.names]
        return _asked(looks.condition, every)
    alike: dict[object, list[NodeClass]] = {}
    for kind in kinds:
        alike.setdefault(looks.key(kind), []).append(kind)
    firsts = {same[0].names[0]: same for same in alike.values()}
    found = _asked(
        looks.condition, [looks.view(name, same[0].said, same[0]) for name, same in firsts.items()]
    )
    names = frozenset(other for name in found.names for kind in firsts[name] for other in kind.names)
    failed = {
        other: problem
        for name, problem in found.failed.items()
        for kind in firsts[name]
        for other in kind.names
    }
    return Selection(names, failed)


def _asked(condition: Condition, nodes: Sequence[NodeView]) -> Selection:
    """One that is stopped selects nobody, and fails on all."""
    try:
        return asked(condition, nodes)
    except CelStopped as problem:
        return Selection(failed=dict.fromkeys([node.name for node in nodes], CelProblem(*problem.args)))


class _Looks(msgspec.Struct, frozen=True):
    """A condition, with the features and groups that it looks for; None: it may look at all that there are.

    Nearly every `for` is `"NAME" in node.features`: then 6,878 classes differ in nothing that it asks for,
    where each by itself, with all its features, takes 40 us and 8 KiB.
    """

    condition: Condition
    features: frozenset[str] | None
    groups: frozenset[str] | None

    def key(self, kind: NodeClass) -> object:
        """The same for classes of which a condition that asks for nothing of single nodes says the same."""
        if "node.params" in self.condition.names:
            return id(kind)
        groups = (ref.name for ref in kind.said.groups)
        some = self.groups
        return self.had(kind), tuple(groups if some is None else [name for name in groups if name in some])

    def had(self, kind: NodeClass) -> Collection[str]:
        """The features of a class, of those that it looks for."""
        if self.features is None:
            return kind.features
        return tuple([name for name in self.features if any(name in part.features for part in kind.parts)])

    def view(self, name: str, said: Said, kind: NodeClass) -> NodeView:
        """What it may ask of a node."""
        return NodeView(name, said, lambda: self.had(kind), lambda: kind.params)


@lru_cache(maxsize=256)  # many secrets are for the same nodes
def _compiled(text: str) -> _Looks | CelProblem:
    try:
        condition = compile_condition(text, NODE_VARIABLES)
    except CelProblem as problem:
        return CelProblem(*problem.args)  # without the frames that it came through
    features, groups = (members_asked(condition, name) for name in ("node.features", "node.groups"))
    return _Looks(condition, features, groups)
