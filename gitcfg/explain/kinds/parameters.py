"""Subsystems: where they run, which parameters and files affect them, and whose restart restarts them."""

from collections.abc import Collection, Iterator
from typing import Any

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.operations import NOTHING
from gitcfg.explain.definition import (
    Definition,
    Entry,
    Field,
    Flag,
    Kind,
    Names,
    Nodes,
    Reference,
    Summary,
    Value,
    file_entries,
    find_mentioning,
    name_references,
)
from gitcfg.explain.kinds.layers import bound_anywhere, bound_on, counts, members_bound, settings_of
from gitcfg.explain.trail import walk_layers
from gitcfg.model import Model, Origin, Parameter, Subsystem
from gitcfg.model.graph import reach
from gitcfg.model.names import selects
from gitcfg.render.files import find_subsystems, select_params
from gitcfg.render.templates import TemplateEngine


def _summaries_subsystem(fleet: Fleet) -> Iterator[Summary]:
    counts = dict.fromkeys(fleet.model.subsystems, 0)
    for kind in fleet.classes:
        for name in find_subsystems(fleet, FleetNode(kind.names[0], kind, kind.definition)):
            counts[name] += len(kind.names)
    for name in sorted(fleet.model.subsystems):
        found = fleet.model.subsystems[name]
        yield Summary(name, found.description, found.origin, {"nodes": counts[name]})


def _definition_subsystem(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    model = fleet.model
    found = model.subsystems[name]
    paths = {path for layer in model.layers() for path in layer.files}
    fields: dict[str, Field] = {
        "nodes": Nodes(_running(fleet, name)),
        "params": name_references(found.params),
        "matching": Names(tuple(sorted(_params(fleet, found))), many=True),
        "files": Names(found.files),
        "matching_files": Names(tuple(sorted(path for path in paths if selects(found.files, path)))),
        "everywhere": Flag(found.features is None),
        "features": name_references(found.features or ()),
        "covers": name_references(found.covers),
        "covered_by": Names(tuple(covering(model, name))),
        "validate": Value(found.validate or None),
        "reload": Value(found.reload or None),
        "restart": Value(found.restart or None),
        "stop": Value(found.stop or None),
        "check": Value(found.check.run if found.check else None),
        "check_timeout": Value(found.check.timeout if found.check else None),
        "check_retries": Value(found.check.retries if found.check else None),
        "using": Value(found.using),
    }
    return Definition(name, found.description, found.origin, fields)


def _running(fleet: Fleet, name: str) -> tuple[str, ...]:
    kinds = (
        kind
        for kind in fleet.classes
        if name in find_subsystems(fleet, FleetNode(kind.names[0], kind, kind.definition))
    )
    return tuple(sorted(node for kind in kinds for node in kind.names))


def _params(fleet: Fleet, found: Subsystem) -> set[str]:
    """Return the parameters, declared or bound, that affect a subsystem."""
    known = {name for name, parameter in fleet.model.parameters.items() if not parameter.pattern}
    known.update(*(kind.stack.cells for kind in fleet.classes))
    return {name for name in known if selects(patterns(found), name)}


def patterns(found: Subsystem) -> tuple[str, ...]:
    """Return the names and globs of the parameters that affect a subsystem."""
    return tuple(ref.name for ref in found.params)


def interest(model: Model, param: str) -> Iterator[Reference]:
    """Yield the subsystems that a parameter affects, and where they list it."""
    for name, found in model.subsystems.items():
        if selects(patterns(found), param):
            ref = next((ref for ref in found.params if selects((ref.name,), param)), None)
            yield Reference(name, ref.origin if ref else found.origin)


def covering(model: Model, name: str) -> list[str]:
    """Return the other subsystems whose restart restarts this one."""
    names = {other: tuple(ref.name for ref in found.covers) for other, found in model.subsystems.items()}
    covers = reach({other: [to for to in names if selects(said, to)] for other, said in names.items()})
    return [other for other in sorted(names) if other != name and covers.leads(other, name)]


SUBSYSTEM = Kind(
    "subsystem", _summaries_subsystem, lambda fleet: fleet.model.subsystems, _definition_subsystem
)


# The consumers of a parameter's value: file entries by their formats, and templates.


def taking_files(fleet: Fleet, engine: TemplateEngine, name: str) -> tuple[Entry, ...]:
    """Return the file entries whose format would write a parameter."""
    found = [
        (label, said)
        for label, layer in walk_layers(fleet.model)
        for said in layer.files.values()
        if said.format is not None and select_params(fleet, said, {name: ""})
    ]
    return file_entries(fleet, engine, found)


def taking_templates(fleet: Fleet, engine: TemplateEngine, name: str) -> Iterator[Reference]:
    """Yield the templates that name a parameter, or iterate over all of them."""
    for template in fleet.templates:
        analysis = engine.analyse(template)
        line = dict(analysis.params).get(name, 1 if analysis.everything else None)
        if line is not None:
            path = f"templates/{template}"
            yield Reference(path, Origin(path, line))


# Parameters: their declarations, which layers bind them, where a binding wins, and what uses them.


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
    family = members_bound(fleet, name)
    others = model.parameters.values()
    bound, bare = bound_on(fleet, family)
    real = sorted(member for member in family if member != name and "${" not in member)
    fields: dict[str, Field] = {
        "nodes": Nodes(bound),
        "without_value": Nodes(bare),
        **_declared(fleet, name, parameter),
        "depended_on_by": find_mentioning(name, [(other.name, other.depends) for other in others]),
        "in_conflict_with": find_mentioning(name, [(other.name, other.conflicts) for other in others]),
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
    """Return the fields of a declaration; for a parameter without one, the defaults."""
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
        "depends": name_references(said.depends),
        "conflicts": name_references(said.conflicts),
    }


def _domains(model: Model, params: Collection[str]) -> Iterator[Reference]:
    """Yield the rules that restrict the values of a parameter. Rules over instances restrict attributes."""
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
