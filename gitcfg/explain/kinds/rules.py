"""Rules and allocations: the content of a rule, and the decisions for it."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import (
    Definition,
    Field,
    Kind,
    Names,
    Reference,
    Summary,
    Value,
    make_setting,
    name_references,
)
from gitcfg.explain.trail import find_winning_nodes
from gitcfg.model import Allocation, Ref, Rule
from gitcfg.model.rules import Permit, Uniqueness
from gitcfg.render.templates import TemplateEngine

_NOBODY = Permit(())


def _rules(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.rules):
        found = fleet.model.rules[name]
        decided = fleet.model.allocations.get(name)
        figures = {"does": found.kind.value, "slots": _slots(decided) if decided is not None else None}
        yield Summary(name, found.description, found.origin, figures)


def _rule(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    found = fleet.model.rules[name]
    decided = fleet.model.allocations.get(name)
    permit, count = found.permit or _NOBODY, found.count
    label, wins = f"rule {name}", find_winning_nodes(fleet, found.params)
    domains = {name: _seen(fleet, found, name, list(one.items)) for name, one in found.domains.items()}
    fields: dict[str, Field] = {
        "does": Value(found.kind.value),
        "feature": name_references(_maybe(found.feature)),
        "settings": tuple(make_setting(fleet, label, *said, wins) for said in found.params.items()),
        "domains": Value(domains or None),
        "unique": Value(_unique(found.unique)),
        "require": _text(found.require),
        "message": Value(found.message or None),
        "permit_by": name_references(permit.by),
        **{f"permit_{kind}": name_references(named) for kind, named in permit.things().items()},
        "permit_inherit": Value(permit.inherit if permit.features else None),
        "where": _text(found.where),
        "over": name_references(_maybe(found.over)),
        "per": _text(found.per),
        "count": Value(None if count is None else {"min": count.least, "max": count.most}),
        "decided": (Reference(decided.name, decided.origin),) if decided is not None else (),
    }
    return Definition(name, found.description, found.origin, fields)


def _seen(fleet: Fleet, rule: Rule | None, name: str, given: Any) -> Any:
    """Return a value with secrets hidden. A rule over instances has attributes, which are not parameters."""
    return given if rule is not None and rule.over is not None else fleet.declarations.seen(name, given)


def _unique(said: Uniqueness | None) -> str | None:
    if said is None:
        return None
    return said.key.name if said.key is not None else said.scope


def _maybe(ref: Ref | None) -> tuple[Ref, ...]:
    return () if ref is None else (ref,)


def _text(ref: Ref | None) -> Value:
    return Value(None if ref is None else ref.name)


def _allocations(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.allocations):
        found = fleet.model.allocations[name]
        yield Summary(name, _purpose(fleet, name), found.origin, {"slots": _slots(found)})


def _allocation(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    found, rule = fleet.model.allocations[name], fleet.model.rules.get(name)
    values: Mapping[str, Any] = {
        slot: {param: _seen(fleet, rule, param, bound.given) for param, bound in said.items()}
        for slot, said in found.values.items()
    }
    fields: dict[str, Field] = {
        "rule": (Reference(name, rule.origin),) if rule is not None else (),
        "install": Names(tuple(ref.name for ref in found.install)),
        "values": Value(values or None),
    }
    return Definition(name, _purpose(fleet, name), found.origin, fields)


def _purpose(fleet: Fleet, name: str) -> str:
    """Return the description of the rule of an allocation."""
    rule = fleet.model.rules.get(name)
    return "" if rule is None else rule.description


def _slots(found: Allocation) -> int:
    """Return the number of slots that an allocation gives something."""
    return len({*(ref.name for ref in found.install), *found.values})


RULE = Kind("rule", _rules, lambda fleet: fleet.model.rules, _rule)
ALLOCATION = Kind("allocation", _allocations, lambda fleet: fleet.model.allocations, _allocation)
