"""What follows from values that rules leave open: what instances pass on, and what is made and collected."""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from functools import cached_property

import msgspec

from gitcfg.compile.instances import asked_by
from gitcfg.compile.layers import Layers
from gitcfg.compile.ruled.collect import collect_of
from gitcfg.compile.values import Misfit
from gitcfg.model import Op
from gitcfg.model.rules import Rule

Attribute = tuple[str, str]
"""One of a feature's instances, by the feature and its name."""
_MARK = re.compile(r"\$\{[^{}]*\}")


class Following(msgspec.Struct, frozen=True):
    """Parameters, whose names may hold marks, and attributes."""

    params: frozenset[str]
    attributes: frozenset[Attribute]


class Followers:
    """Finds what follows, whatever the nodes are."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._known: dict[tuple[str, ...], Following] = {}

    def of(self, rule: Rule) -> Following:
        """What follows from the values of a rule, these among it."""
        about = (rule.over.name if rule.over is not None else "", *sorted(rule.domains))
        if about not in self._known:
            self._known[about] = self._of(rule)
        return self._known[about]

    def _of(self, rule: Rule) -> Following:
        attributes = self._attributes(rule) if rule.over is not None else set[Attribute]()
        params = self._made(attributes) if rule.over is not None else set(rule.domains)
        return Following(frozenset(self._collected(params)), frozenset(attributes))

    def _attributes(self, rule: Rule) -> set[Attribute]:
        """What instances get, and pass on to what they include."""
        names, gives = self._layers.model.features, self._layers.giving.gives
        todo = [(feature, name) for feature in names if gives(rule, feature) for name in rule.domains]
        found = set(todo)
        while todo:
            feature, name = todo.pop()
            for use in names[feature].include:
                passed = [to for to, bound in use.attributes.items() if name in asked_by(bound.given)]
                new = {(use.feature, to) for to in passed if use.feature in names} - found
                found |= new
                todo += sorted(new)
        return found

    def _made(self, attributes: Set[Attribute]) -> set[str]:
        """The parameters that instances name or give by attributes."""
        features = self._layers.model.features
        return {
            param
            for feature, name in attributes
            for param, bound in features[feature].params.items()
            if name in asked_by([param, bound.given])
        }

    def _collected(self, params: set[str]) -> set[str]:
        """With what is collected of them, however often."""
        found, todo = set(params), list(params)
        while todo and self._collects:
            sources = self._sources.meeting(todo.pop())
            new = {name for source in sources for name in self._collects[source]} - found
            found |= new
            todo += sorted(new)
        return found

    @cached_property
    def _sources(self) -> "Names":
        return Names(self._collects)

    @cached_property
    def _collects(self) -> Mapping[str, Set[str]]:
        """For each parameter those that are collected of it."""
        found: dict[str, set[str]] = {}
        for name, bound in self._layers.model.bindings():
            if bound.op is Op.COLLECT:
                with suppress(Misfit):
                    found.setdefault(collect_of(bound.given).param, set()).add(name)
        return found


class Names:
    """Names of parameters, which may hold marks, to look among for what one is, or may become."""

    def __init__(self, names: Iterable[str]) -> None:
        listed = sorted(names)
        self._plain = [name for name in listed if "${" not in name]
        self._marked = [name for name in listed if "${" in name]

    def meeting(self, name: str) -> list[str]:
        """Those that a name is, or may become, or that may become it."""
        head, mark, _ = name.partition("${")
        last = head + chr(sys.maxunicode) if mark else name
        near = self._plain[bisect_left(self._plain, head) : bisect_right(self._plain, last)]
        return [other for other in (*near, *self._marked) if _meets(name, other)]


def _meets(one: str, other: str) -> bool:
    if "${" not in one and "${" not in other:
        return one == other
    if "${" in one and "${" in other:
        heads = sorted([one.partition("${")[0], other.partition("${")[0]], key=len)
        return heads[1].startswith(heads[0])
    marked, plain = (one, other) if "${" in one else (other, one)
    return re.fullmatch(".*".join(map(re.escape, _MARK.split(marked))), plain) is not None
