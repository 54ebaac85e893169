"""Subsystems: where they run, what concerns them, and whose restart covers them."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.explain.definition import Definition, Field, Flag, Kind, Names, Nodes, Reference, Summary, Value
from gitcfg.explain.said import refs
from gitcfg.model import Model, Subsystem
from gitcfg.model.graph import reach
from gitcfg.model.names import selects
from gitcfg.render.files import subsystems
from gitcfg.render.templates import TemplateEngine


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    counts = dict.fromkeys(fleet.model.subsystems, 0)
    for kind in fleet.classes:
        for name in subsystems(fleet, FleetNode(kind.names[0], kind, kind.said)):
            counts[name] += len(kind.names)
    for name in sorted(fleet.model.subsystems):
        found = fleet.model.subsystems[name]
        yield Summary(name, found.description, found.origin, {"nodes": counts[name]})


def _definition(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    model = fleet.model
    found = model.subsystems[name]
    paths = {path for layer in model.layers() for path in layer.files}
    fields: dict[str, Field] = {
        "nodes": Nodes(_running(fleet, name)),
        "params": refs(found.params),
        "matching": Names(tuple(sorted(_params(fleet, found))), many=True),
        "files": Names(found.files),
        "matching_files": Names(tuple(sorted(path for path in paths if selects(found.files, path)))),
        "everywhere": Flag(found.features is None),
        "features": refs(found.features or ()),
        "covers": refs(found.covers),
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
    kinds = (kind for kind in fleet.classes if _on(fleet, FleetNode(kind.names[0], kind, kind.said), name))
    return tuple(sorted(node for kind in kinds for node in kind.names))


def _on(fleet: Fleet, node: FleetNode, name: str) -> bool:
    return name in subsystems(fleet, node)


def _params(fleet: Fleet, found: Subsystem) -> set[str]:
    """The parameters, declared or bound, that it is interested in."""
    known = {name for name, parameter in fleet.model.parameters.items() if not parameter.pattern}
    known.update(*(kind.stack.cells for kind in fleet.classes))
    return {name for name in known if selects(patterns(found), name)}


def patterns(found: Subsystem) -> tuple[str, ...]:
    """The names and globs of the parameters that a subsystem is interested in."""
    return tuple(ref.name for ref in found.params)


def interest(model: Model, param: str) -> Iterator[Reference]:
    """The subsystems that are interested in a parameter, and where they say so."""
    for name, found in model.subsystems.items():
        if selects(patterns(found), param):
            ref = next((ref for ref in found.params if selects((ref.name,), param)), None)
            yield Reference(name, ref.origin if ref else found.origin)


def covering(model: Model, name: str) -> list[str]:
    """The other subsystems whose restart restarts this one."""
    names = {other: tuple(ref.name for ref in found.covers) for other, found in model.subsystems.items()}
    covers = reach({other: [to for to in names if selects(said, to)] for other, said in names.items()})
    return [other for other in sorted(names) if other != name and covers.leads(other, name)]


SUBSYSTEM = Kind("subsystem", _summaries, lambda fleet: fleet.model.subsystems, _definition)
