"""Parameters: how they are declared, who binds them, where that wins, and what takes them."""

from collections.abc import Collection, Iterator
from typing import Any

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING
from gitcfg.explain.definition import Definition, Field, Flag, Kind, Names, Nodes, Reference, Summary, Value
from gitcfg.explain.kinds.bound import bound_anywhere, bound_on, counts, members, settings_of
from gitcfg.explain.kinds.subsystem import interest
from gitcfg.explain.kinds.taken import taking_files, taking_templates
from gitcfg.explain.said import mentioning, refs
from gitcfg.model import Model, Origin, Parameter
from gitcfg.render.templates import TemplateEngine


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    found = counts(fleet)
    for name in sorted(fleet.model.parameters.keys() | found.keys()):
        declared = fleet.model.parameters.get(name)
        figures = {
            "type": fleet.declarations.kind(name),
            "default": _default(fleet, declared),
            "nodes": found.get(name, 0),
        }
        description = declared.description if declared else ""
        yield Summary(name, description, declared.origin if declared else None, figures)


def _definition(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    model = fleet.model
    parameter = fleet.declarations.find(name)
    family = members(fleet, name)
    others = model.parameters.values()
    bound, bare = bound_on(fleet, family)
    real = sorted(member for member in family if member != name and "${" not in member)
    fields: dict[str, Field] = {
        "nodes": Nodes(bound),
        "without_value": Nodes(bare),
        **_declared(fleet, name, parameter),
        "depended_on_by": mentioning(name, [(other.name, other.depends) for other in others]),
        "in_conflict_with": mentioning(name, [(other.name, other.conflicts) for other in others]),
        "domains": tuple(_domains(model, family)),
        "subsystems": tuple(interest(model, name)),
        "files": taking_files(fleet, engine, name),
        "templates": tuple(taking_templates(fleet, engine, name)),
        "members": Names(tuple(real), many=True),
        "settings": tuple(settings_of(fleet, family)),
    }
    description, origin = (parameter.description, parameter.origin) if parameter else ("", None)
    return Definition(name, description, origin, fields)


def _declared(fleet: Fleet, name: str, parameter: Parameter | None) -> dict[str, Field]:
    """What the declaration says; of a parameter without one, what is taken for granted."""
    said = parameter or Parameter(name, Origin(""))
    return {
        "family": Value(parameter.name if parameter and parameter.name != name else None),
        "undeclared": Flag(parameter is None),
        "type": Value(fleet.declarations.kind(name)),
        "default": Value(_default(fleet, parameter)),
        "secret": Flag(said.secret),
        "must_change": Flag(said.must_change),
        "restart": Flag(said.restart),
        "unique": Flag(said.unique),
        "separator": Value(said.separator),
        "macros": Value(said.macros),
        "value_schema": Value(said.schema),
        "level": Value(said.level or None),
        "tags": Names(said.tags),
        "depends": refs(said.depends),
        "conflicts": refs(said.conflicts),
    }


def _domains(model: Model, params: Collection[str]) -> Iterator[Reference]:
    """The rules that say which values it may have; those over instances speak of attributes."""
    for rule in model.rules.values():
        for domain in rule.domains.values() if rule.over is None else ():
            if domain.name in params:
                yield Reference(f"rule {rule.name}", domain.origin)


def _default(fleet: Fleet, parameter: Parameter | None) -> Any:
    found = fleet.declarations.default(parameter) if parameter else NOTHING
    return None if found is NOTHING else found


PARAMETER = Kind(
    "parameter",
    _summaries,
    bound_anywhere,
    _definition,
    also=lambda fleet, name: fleet.declarations.find(name) is not None,
)
