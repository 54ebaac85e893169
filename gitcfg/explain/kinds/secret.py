"""Secrets: which nodes get them and may have them, who can decrypt them, and what binds them."""

from collections.abc import Iterator

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.explain.definition import Definition, Entry, Field, Kind, Names, Nodes, Setting, Summary, Value
from gitcfg.explain.layers import labelled
from gitcfg.explain.said import setting
from gitcfg.explain.winning import winning
from gitcfg.model import FileEntry, Op, Origin, Secret
from gitcfg.model.age import recipient
from gitcfg.model.names import shown
from gitcfg.render.files import PRIVATE, held
from gitcfg.render.templates import TemplateEngine


def having(fleet: Fleet, name: str) -> tuple[str, ...]:
    """The nodes that have a parameter which is a secret, in order of name."""
    kinds = (kind for kind in fleet.classes if name in kind.secrets.values())
    return tuple(sorted(node for kind in kinds for node in kind.names))


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    found: dict[str, int] = {}
    for kind in fleet.classes:
        for name in set(kind.secrets.values()):
            found[name] = found.get(name, 0) + len(kind.names)
    for name in sorted(fleet.model.secrets):
        said = fleet.model.secrets[name]
        figures = {
            "nodes": found.get(name, 0),
            "version": said.version,
            "recipients": len(said.recipients),
            "where": said.where.name if said.where else None,
        }
        yield Summary(name, said.description, said.origin, figures)


def _definition(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    said = fleet.model.secrets[name]
    fields: dict[str, Field] = {
        "nodes": Nodes(having(fleet, name)),
        "allowed": Nodes(_allowed(fleet, said)),
        "where": Value(said.where.name if said.where else None),
        "version": Value(said.version),
        "sealed": Value(said.sealed.file if said.sealed else None),
        "recipients": Names(tuple(_recipient(ref.name) for ref in said.recipients)),
        "settings": tuple(_settings(fleet, name)),
        "files": tuple(_files(fleet, engine, name)),
    }
    return Definition(name, said.description, said.origin, fields)


def _allowed(fleet: Fleet, said: Secret) -> tuple[str, ...]:
    """The nodes that may have it, in order of name."""
    return tuple(sorted(fleet.select(said.where.name).names)) if said.where is not None else ()


def _recipient(line: str) -> str:
    """A recipient in its normal form. What is no public key may be a private one, and is not shown."""
    try:
        found = recipient(line)
    except ValueError:
        return "(no public key)"
    return shown(f"{found.key} {found.comment}".strip(), 1000)


def _settings(fleet: Fleet, name: str) -> Iterator[Setting]:
    """Every layer's binding of a parameter to it, and where that wins."""
    instances = [item for made in fleet.layers.instances for item in made.params.items()]
    made = {
        bound.origin: param for param, bound in instances if bound.op is Op.SECRET and bound.given == name
    }
    found = [
        (label, param, bound)
        for label, layer in labelled(fleet.model)
        for param, bound in layer.params.items()
        if bound.op is Op.SECRET and (bound.given == name or bound.origin in made)
    ]
    wins = winning(fleet, {made.get(bound.origin, param) for _, param, bound in found})
    return (setting(fleet, label, param, bound, wins) for label, param, bound in found)


def _files(fleet: Fleet, engine: TemplateEngine, name: str) -> Iterator[Entry]:
    """The file entries that hold it on some node, and the nodes on which they do: elsewhere one that says no
    mode has another."""
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        if name in kind.secrets.values():
            node = FleetNode(kind.names[0], kind, kind.said)
            for one in kind.files.values():
                if name in held(fleet, node, one, engine).values():
                    found.setdefault(one.origin, []).extend(kind.names)
    for label, layer in labelled(fleet.model):
        for one in layer.files.values():
            if one.origin in found:
                yield Entry(label, _private(one), tuple(sorted(found[one.origin])))


def _private(one: FileEntry) -> FileEntry:
    """An entry with the mode that it has where it holds a secret."""
    return one if one.mode_said else msgspec.structs.replace(one, mode=PRIVATE)


SECRET = Kind("secret", _summaries, lambda fleet: fleet.model.secrets, _definition)
