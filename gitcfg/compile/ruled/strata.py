"""The order in which rules install features: one that reads a feature comes after those that bring it."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set

import msgspec

from gitcfg.cel import KeyExpression
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.ruled.reading import Where, features_asked
from gitcfg.model import Origin
from gitcfg.model.graph import components
from gitcfg.model.rules import Rule

Names = tuple[tuple[str, ...], ...]
Leads = Mapping[str, Set[str]]
"""From each name or place where it leads to."""
_ALL = "all features"


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
    leads = waiting(rules, {rule.name: looked_for(rule, wheres, pers) for rule in rules}, inclusion)
    by_name = {rule.name: rule for rule in rules}
    layers, circles = layered(leads, leads, by_name)
    return Strata(layers, tuple(Circle(those, tuple(_places(by_name, those))) for those in circles))


def layered(leads: Leads, waits: Leads, names: Container[str]) -> tuple[Names, Names]:
    """Names layer by layer, each after all to which it leads, also by way of what is no name; and circles.

    `waits` are the ways that must not come back: others lead to and fro between names of one layer.
    """
    level: dict[str, int] = {}
    circles = []
    for members in components({place: sorted(leads[place]) for place in sorted(leads)}):
        inside, found = {*members}, tuple(place for place in members if place in names)
        before = max((level.get(to, 0) for one in members for to in leads[one] - inside), default=0)
        level.update(dict.fromkeys(inside.difference(found), before))
        if any(waits[name] & inside for name in found if name in waits):
            circles.append(found)
        else:
            level.update(dict.fromkeys(found, before + 1))
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=0))]
    for name in sorted(name for name in level if name in names):
        layers[level[name] - 1].append(name)
    return tuple(map(tuple, layers)), tuple(sorted(circles))


def waiting(
    rules: Sequence[Rule], reads: Mapping[str, frozenset[str] | None], inclusion: Inclusion
) -> dict[str, set[str]]:
    """The ways from rules to the features that they look for, and from these to the rules that bring them.

    One that looks at all features waits for all other rules. Features are written so that none is called as
    a rule is: of both there may be many, and from each to each would be too many ways.
    """
    asked = {feature for found in reads.values() for feature in found or ()}
    leads: dict[str, set[str]] = {one: set() for one in (*(rule.name for rule in rules), *map(_place, asked))}
    for rule in rules:
        for feature in brought(rule, inclusion) & asked:
            leads[_place(feature)].add(rule.name)
    everyone, looking = {rule.name for rule in rules}, [one for one, found in reads.items() if found is None]
    if len(looking) > 1:  # they wait for each other
        leads[_ALL] = everyone
    for name, found in reads.items():
        other = {_ALL} if len(looking) > 1 else everyone - {name}
        leads.setdefault(name, set()).update(other if found is None else map(_place, found))
    return leads


def _place(feature: str) -> str:
    return f"feature {feature}"


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


def _places(rules: Mapping[str, Rule], names: Iterable[str]) -> Iterator[Origin]:
    """Where rules say what they install, and what they read for it."""
    for rule in map(rules.__getitem__, names):
        yield from (ref.origin for ref in (rule.feature, rule.over, rule.where, rule.per) if ref is not None)
