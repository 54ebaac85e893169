"""Templates and files, with the layers that use them: files in files/ by name, files on nodes by path."""

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.explain.definition import (
    Definition,
    Entry,
    Field,
    Kind,
    Names,
    Nodes,
    Setting,
    Summary,
    Value,
    file_entries,
    make_setting,
)
from gitcfg.explain.trail import find_deciding_nodes, find_winning_nodes, walk_layers
from gitcfg.model import FileEntry, Op, Origin
from gitcfg.model.age import recipient
from gitcfg.model.names import shown
from gitcfg.render.files import PRIVATE, find_secret_params
from gitcfg.render.templates import TemplateEngine

Said = tuple[str, FileEntry]
"""An entry for a file, with its layer's label."""


def _templates(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.templates):
        yield _summary(fleet, name, f"templates/{name}", _using(fleet, _takes_template(name)))


def _template(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    used = file_entries(fleet, engine, _using(fleet, _takes_template(name)))
    fields: dict[str, Field] = {"nodes": Nodes(_nodes(used)), "used_by": used}
    if name in fleet.templates:
        analysis = engine.analyse(name)
        fields["params"] = Names(tuple(param for param, _ in analysis.params))
        fields["includes"] = Names(analysis.includes)
    return Definition(name, "", Origin(f"templates/{name}"), fields)


def _files(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(_names(fleet)):
        yield _summary(fleet, name, _place(name), _using(fleet, _is_file(name)))


def _file(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    used = file_entries(fleet, engine, _using(fleet, _is_file(name)))
    place = _place(name)
    fields: dict[str, Field] = {"nodes": Nodes(_nodes(used)), "used_by": used}
    return Definition(name, "", Origin(place) if place else None, fields)


def _names(fleet: Fleet) -> Collection[str]:
    """Return the names of files in files/, and the paths of files on nodes."""
    return fleet.model.sources | {path for layer in fleet.model.layers() for path in layer.files}


def _place(name: str) -> str:
    return "" if name.startswith("/") else f"files/{name}"


def _summary(fleet: Fleet, name: str, place: str, used: Sequence[Said]) -> Summary:
    decides = find_deciding_nodes(fleet, {said.path for _, said in used})
    nodes = {node for _, said in used if not said.removed for node in decides.get(said.origin, ())}
    figures = {"entries": len(used), "nodes": len(nodes)}
    return Summary(name, "", Origin(place) if place else None, figures)


def _takes_template(name: str) -> Callable[[FileEntry], bool]:
    return lambda said: said.template is not None and said.template.name == name


def _is_file(name: str) -> Callable[[FileEntry], bool]:
    if name.startswith("/"):
        return lambda said: said.path == name
    return lambda said: said.source is not None and said.source.name == name


def _using(fleet: Fleet, wanted: Callable[[FileEntry], bool]) -> Sequence[Said]:
    return [
        (label, said)
        for label, layer in walk_layers(fleet.model)
        for said in layer.files.values()
        if wanted(said)
    ]


def _nodes(used: tuple[Entry, ...]) -> tuple[str, ...]:
    """Return the nodes that get a file from one of the entries."""
    return tuple(sorted({name for found in used if not found.entry.removed for name in found.nodes}))


TEMPLATE = Kind("template", _templates, lambda fleet: fleet.model.templates, _template)
FILE = Kind("file", _files, _names, _file)


# Secrets: which nodes get them and may have them, whose keys decrypt them, and which layers bind them.


def having(fleet: Fleet, name: str) -> tuple[str, ...]:
    """Return the nodes on which some parameter has this secret as its value, in order of name."""
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
    allowed = fleet.select(said.where.name).names if said.where is not None else ()
    fields: dict[str, Field] = {
        "nodes": Nodes(having(fleet, name)),
        "allowed": Nodes(tuple(sorted(allowed))),
        "where": Value(said.where.name if said.where else None),
        "version": Value(said.version),
        "sealed": Value(said.sealed.file if said.sealed else None),
        "recipients": Names(tuple(_recipient(ref.name) for ref in said.recipients)),
        "settings": tuple(_settings(fleet, name)),
        "files": tuple(_files_secret(fleet, engine, name)),
    }
    return Definition(name, said.description, said.origin, fields)


def _recipient(line: str) -> str:
    """Return a recipient in its normal form. Hide any other text, because it may be a private key."""
    try:
        found = recipient(line)
    except ValueError:
        return "(no public key)"
    return shown(f"{found.key} {found.comment}".strip(), 1000)


def _settings(fleet: Fleet, name: str) -> Iterator[Setting]:
    """Yield every layer's binding of a parameter to the secret, and the nodes on which it wins."""
    instances = [item for made in fleet.layers.instances for item in made.params.items()]
    made = {
        bound.origin: param for param, bound in instances if bound.op is Op.SECRET and bound.given == name
    }
    found = [
        (label, param, bound)
        for label, layer in walk_layers(fleet.model)
        for param, bound in layer.params.items()
        if bound.op is Op.SECRET and (bound.given == name or bound.origin in made)
    ]
    wins = find_winning_nodes(fleet, {made.get(bound.origin, param) for _, param, bound in found})
    return (make_setting(fleet, label, param, bound, wins) for label, param, bound in found)


def _files_secret(fleet: Fleet, engine: TemplateEngine, name: str) -> Iterator[Entry]:
    """Yield the file entries that contain the secret on some node, with these nodes.

    An entry without a mode has another mode on the other nodes.
    """
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        if name in kind.secrets.values():
            node = FleetNode(kind.names[0], kind, kind.definition)
            for one in kind.files.values():
                if name in find_secret_params(fleet, node, one, engine).values():
                    found.setdefault(one.origin, []).extend(kind.names)
    for label, layer in walk_layers(fleet.model):
        for one in layer.files.values():
            if one.origin in found:
                private = one if one.mode_said else msgspec.structs.replace(one, mode=PRIVATE)
                yield Entry(label, private, tuple(sorted(found[one.origin])))


SECRET = Kind("secret", _summaries, lambda fleet: fleet.model.secrets, _definition)
