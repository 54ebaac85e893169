"""Templates, and files: those under files/ by name, those on nodes by path. Both by who uses them."""

from collections.abc import Callable, Collection, Iterator, Sequence

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Entry, Field, Kind, Names, Nodes, Summary
from gitcfg.explain.layers import labelled
from gitcfg.explain.said import entries
from gitcfg.explain.winning import deciding
from gitcfg.model import FileEntry, Origin
from gitcfg.render.templates import TemplateEngine

Said = tuple[str, FileEntry]
"""An entry for a file, with its layer's label."""


def _templates(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.templates):
        yield _summary(fleet, name, f"templates/{name}", _using(fleet, _takes_template(name)))


def _template(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    used = entries(fleet, engine, _using(fleet, _takes_template(name)))
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
    used = entries(fleet, engine, _using(fleet, _is_file(name)))
    place = _place(name)
    fields: dict[str, Field] = {"nodes": Nodes(_nodes(used)), "used_by": used}
    return Definition(name, "", Origin(place) if place else None, fields)


def _names(fleet: Fleet) -> Collection[str]:
    """What lies under files/, and the paths of files on nodes."""
    return fleet.model.sources | {path for layer in fleet.model.layers() for path in layer.files}


def _place(name: str) -> str:
    return "" if name.startswith("/") else f"files/{name}"


def _summary(fleet: Fleet, name: str, place: str, used: Sequence[Said]) -> Summary:
    decides = deciding(fleet, {said.path for _, said in used})
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
    """The entries that are wanted."""
    return [
        (label, said)
        for label, layer in labelled(fleet.model)
        for said in layer.files.values()
        if wanted(said)
    ]


def _nodes(used: tuple[Entry, ...]) -> tuple[str, ...]:
    """The nodes that get a file from one of the entries."""
    return tuple(sorted({name for found in used if not found.entry.removed for name in found.nodes}))


TEMPLATE = Kind("template", _templates, lambda fleet: fleet.model.templates, _template)
FILE = Kind("file", _files, _names, _file)
