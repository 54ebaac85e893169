"""The order in which rules install features: one that reads a feature comes after those that bring it."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gitcfg.cel import KeyExpression
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.ruled.reading import Where, features_asked
from gitcfg.graph import components
from gitcfg.model import Origin
from gitcfg.model.rules import Rule


class Circle(msgspec.Struct, frozen=True):
    """Rules that install what they read, one through another or each its own: none of them installs."""

    rules: tuple[str, ...]
    origins: tuple[Origin, ...]


class Strata(msgspec.Struct, frozen=True):
    """Rules that may be asked together, those first that others wait for; in order of name."""

    layers: tuple[tuple[str, ...], ...]
    circles: tuple[Circle, ...]


def strata(
    rules: Sequence[Rule],
    wheres: Mapping[str, Where],
    pers: Mapping[str, KeyExpression],
    inclusion: Inclusion,
) -> Strata:
    """The order of install rules, all of whose conditions and keys can be read."""
    waits = waiting(rules, {rule.name: looked_for(rule, wheres, pers) for rule in rules}, inclusion)
    by_name = {rule.name: rule for rule in rules}
    level: dict[str, int] = {}
    circles = []
    for members in components(waits):
        if len(members) > 1 or members[0] in waits[members[0]]:
            circles.append(Circle(members, tuple(_places([by_name[name] for name in members]))))
        else:
            level[members[0]] = 1 + max((level.get(other, 0) for other in waits[members[0]]), default=0)
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=0))]
    for name in sorted(level):
        layers[level[name] - 1].append(name)
    return Strata(tuple(map(tuple, layers)), tuple(sorted(circles, key=lambda circle: circle.rules)))


def waiting(
    rules: Sequence[Rule], reads: Mapping[str, frozenset[str] | None], inclusion: Inclusion
) -> dict[str, list[str]]:
    """For each rule those that bring what it reads. One that looks at all features waits for all others."""
    bringing: dict[str, list[str]] = {}
    for rule in rules:
        for feature in brought(rule, inclusion):
            bringing.setdefault(feature, []).append(rule.name)
    everyone = [rule.name for rule in rules]
    waits: dict[str, list[str]] = {}
    for rule in rules:
        asked = reads[rule.name]
        if asked is None:
            found = {name for name in everyone if name != rule.name}
        else:
            found = {name for feature in asked for name in bringing.get(feature, ())}
        waits[rule.name] = sorted(found)
    return waits


def brought(rule: Rule, inclusion: Inclusion) -> frozenset[str]:
    """The feature that a rule installs, with all that it includes."""
    feature = rule.feature.name if rule.feature else ""
    return inclusion.reaches.closed([feature]) if feature in inclusion.edges else frozenset({feature})


def looked_for(
    rule: Rule, wheres: Mapping[str, Where], pers: Mapping[str, KeyExpression]
) -> frozenset[str] | None:
    """The features that a rule looks for; None: it may look at all of them."""
    where, per = wheres.get(rule.name), pers.get(rule.name)
    over = frozenset[str]() if rule.over is None else frozenset({rule.over.name})
    keys = frozenset[str]() if per is None else features_asked(per)
    asked = frozenset[str]() if where is None else where.asked
    return None if asked is None or keys is None else asked | keys | over


def _places(rules: Sequence[Rule]) -> Iterator[Origin]:
    """Where rules say what they install, and what they read for it."""
    for rule in rules:
        yield from (ref.origin for ref in (rule.feature, rule.over, rule.where, rule.per) if ref is not None)
