"""What follows from values that rules leave open: what instances pass on, and what is made and collected."""

import re
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from functools import cached_property

import msgspec

from gitcfg.compile.instances import asked_by
from gitcfg.compile.layers import Layers
from gitcfg.compile.ruled.collect import collect_of
from gitcfg.compile.values import Misfit
from gitcfg.model import Model, Op
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

    def of(self, rule: Rule) -> Following:
        """What follows from the values of a rule, these among it."""
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
        found, before = set(params), -1
        while before < len(found):
            before = len(found)
            found.update(name for name, source in self._collects if among(source, found))
        return found

    @cached_property
    def _collects(self) -> Set[tuple[str, str]]:
        """Which parameters are collected of which."""
        return frozenset(_collects(self._layers.model))


def _collects(model: Model) -> Iterator[tuple[str, str]]:
    for name, bound in model.bindings():
        if bound.op is Op.COLLECT:
            with suppress(Misfit):
                yield name, collect_of(bound.given).param


def among(name: str, names: Iterable[str]) -> bool:
    """Is a name, or one that it may become, one of these, or of those that they may become?"""
    return any(_meets(name, other) for other in names)


def _meets(one: str, other: str) -> bool:
    if "${" not in one and "${" not in other:
        return one == other
    if "${" in one and "${" in other:
        heads = sorted([one.partition("${")[0], other.partition("${")[0]], key=len)
        return heads[1].startswith(heads[0])
    marked, plain = (one, other) if "${" in one else (other, one)
    return re.fullmatch(".*".join(map(re.escape, _MARK.split(marked))), plain) is not None
