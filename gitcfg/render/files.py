"""A node's files: the parameters of each entry, the text in its format, and digests."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, AnyStr
from weakref import WeakKeyDictionary

import msgspec

from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass, Splicer
from gitcfg.model import FileEntry, Subsystem
from gitcfg.model.names import selects
from gitcfg.model.secrets import shown
from gitcfg.render.formats import Format, LineFormat, formats
from gitcfg.render.templates import TemplateEngine, TemplateProblem


class ParameterSelection:
    """The parameters that one kind of file entry selects."""

    def __init__(self, declarations: Declarations, entry: FileEntry) -> None:
        self._declarations = declarations
        self._tags, self._params = frozenset(entry.tags), entry.params
        self._known: dict[str, Mapping[str, str | None] | None] = {}

    def separators(self, name: str) -> Mapping[str, str | None] | None:
        """Return the separator of a parameter's lists, by its name; None if the entry does not select it."""
        if name not in self._known:
            parameter = self._declarations.find(name)
            if self._tags:
                takes = parameter is not None and not self._tags.isdisjoint(parameter.tags)
            else:
                takes = selects(self._params, name)
            self._known[name] = {name: parameter.separator if parameter else None} if takes else None
        return self._known[name]


# Files with secrets, which only their owner may read.

PRIVATE = "0600"
"""The default mode of a file that has a secret."""


def find_secret_files(fleet: Fleet, node: FleetNode, engine: TemplateEngine) -> Mapping[str, tuple[str, ...]]:
    """Return the files of a node that have secrets, in order of path, with the secrets' names in order."""
    if not node.secrets:
        return {}
    found = {path: find_secret_params(fleet, node, entry, engine) for path, entry in node.entries.items()}
    return {path: tuple(sorted(set(params.values()))) for path, params in found.items() if params}


def find_secret_params(
    fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine
) -> Mapping[str, str]:
    """Return the parameters with secrets that a file entry of a node may use, and the secrets' names.

    A template that reads a parameter counts, even if its output does not have the value.
    """
    secrets = node.secrets
    if not secrets or len(entry.contents) != 1:
        return {}
    if entry.format is not None:
        selection = ParameterSelection(fleet.declarations, entry)
        return {param: name for param, name in secrets.items() if selection.separators(param) is not None}
    if entry.template is not None and entry.template.name in fleet.templates:
        analysis = engine.analyse(entry.template.name)
        if analysis.everything or analysis.computed or analysis.problem is not None:
            return secrets
        mentioned = {param for param, _ in analysis.params}
        return {param: name for param, name in secrets.items() if param in mentioned}
    return {}


def mode_of(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> str:
    """Return the mode of a file of a node."""
    private = not entry.mode_said and bool(find_secret_params(fleet, node, entry, engine))
    return PRIVATE if private else entry.mode


# Texts in formats that write each parameter separately: what many files have in common is written once.

Notice = Callable[[str, Any, str, str | None], object]
"""Called for each piece with the parameter, its value as shown, the text, and the separator of its lists."""
Show = Callable[[Any], Any]
"""A function from a value to what is written: the same value, except for a secret."""


class Pieces:
    """The texts that one kind of file entry writes for the parameters of each layer, and so of a class."""

    def __init__(
        self,
        fleet: Fleet,
        entry: FileEntry,
        chosen: LineFormat,
        notice: Notice | None = None,
        show: Show = shown,
    ) -> None:
        self._writer = _Writer(fleet, entry, chosen, notice, show)
        self._splicer = Splicer(fleet.declarations, self._writer.write, "")

    def of(self, kind: NodeClass) -> Mapping[str, str] | None:
        """Return the pieces of a class's file, or None if the format cannot distinguish some of the names."""
        pieces = self._splicer.pieces(kind)
        return None if any(pieces.get(name) for name in self._writer.alike) else pieces

    def text(self, kind: NodeClass) -> str | None:
        """Return the pieces of a class's file as one text, or None."""
        pieces = self.of(kind)
        return None if pieces is None else "".join(pieces.values())


class _Writer:
    """Writes one parameter at a time. `alike` are the parameters with the same spelling as others."""

    def __init__(
        self, fleet: Fleet, entry: FileEntry, chosen: LineFormat, notice: Notice | None, show: Show
    ) -> None:
        self.alike: set[str] = set()
        self._selection = ParameterSelection(fleet.declarations, entry)
        self._format = chosen
        self._notice = notice
        self._show = show
        self._spelled: dict[str, str] = {}

    def write(self, name: str, value: Any) -> str:
        """Return the text of a parameter: empty if it is bare, not selected, or unfit for the format."""
        apart = self._selection.separators(name)
        if apart is None or value is None:
            return ""
        first = self._spelled.setdefault(self._format.spelling(name), name)
        if first != name:
            self.alike |= {first, name}
        value = self._show(value)
        values = {name: value}
        if any(self._format.unfit(values, apart)):
            return ""
        text = self._format.write(values, apart)
        if self._notice is not None:
            self._notice(name, value, text, apart[name])
        return text


_pieces: WeakKeyDictionary[Fleet, dict[Any, Pieces | None]] = WeakKeyDictionary()


def find_pieces(fleet: Fleet, chosen: Format, entry: FileEntry) -> Pieces | None:
    """Return the pieces of a fleet for entries of this kind, or None for a format without pieces.

    They are kept as long as the fleet exists.
    """
    kinds = _pieces.setdefault(fleet, {})
    key = (chosen.name, entry.params, entry.tags)
    if key not in kinds:
        # One `isinstance` per kind, since it takes 25 us with this protocol.
        kinds[key] = Pieces(fleet, entry, chosen) if isinstance(chosen, LineFormat) else None
    return kinds[key]


# A node's files and digests, from its parameters and the file entries of its layers.


class RenderedFile(msgspec.Struct, frozen=True):
    """A file as a node gets it. `digest` is that of content, mode, owner and group."""

    path: str
    content: str
    mode: str
    owner: str
    group: str
    digest: str


def select_params(fleet: Fleet, entry: FileEntry, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a file entry selects, without bare ones; secrets as they are shown."""
    if entry.tags:
        tags = set(entry.tags)
        found = ((n, v) for n, v in params.items() if not tags.isdisjoint(_tags(fleet, n)))
    else:
        found = ((n, v) for n, v in params.items() if selects(entry.params, n))
    return {n: shown(v) if type(v) is dict else v for n, v in found if v is not None}


def _tags(fleet: Fleet, name: str) -> tuple[str, ...]:
    parameter = fleet.declarations.find(name)
    return parameter.tags if parameter else ()


def find_separators(fleet: Fleet, names: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the separator of each parameter's lists."""
    found = {name: fleet.declarations.find(name) for name in names}
    return {name: parameter.separator if parameter else None for name, parameter in found.items()}


def make_context(node: FleetNode, secrets: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the variables of a template; `secrets` are the parameters with true values, if any."""
    shows = {name: shown(node.params[name]) for name in node.secrets} if secrets is None else secrets
    about = {
        "name": node.name,
        "groups": list(node.groups),
        "features": list(node.features),
        "labels": list(node.definition.labels),
        "facts": node.definition.fact_values(),
        "address": node.definition.address or node.name,
    }
    return {
        "params": {**node.params, **shows},
        "node": about,
        "features": about["features"],
        "groups": about["groups"],
    }


def render_content(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> str | None:
    """Return a file's content, or None if its entry is not valid (GC209) or its source is not text.

    Raise TemplateProblem if the template fails on this node.
    """
    if len(entry.contents) != 1:
        return None
    if entry.format is not None:
        chosen = formats().get(entry.format)
        return _written(fleet, chosen, entry, node) if chosen else None
    if entry.template is not None:
        known = entry.template.name in fleet.templates
        return engine.render(entry.template.name, make_context(node)) if known else None
    if entry.source is not None:
        return fleet.sources.get(entry.source.name)
    return entry.text


def _written(fleet: Fleet, chosen: Format, entry: FileEntry, node: FleetNode) -> str:
    """Return the values in a format.

    Values that it cannot carry (GC309, GC310) are left out: they may inject lines.
    """
    pieces = find_pieces(fleet, chosen, entry)
    text = pieces.text(node.node_class) if pieces else None
    if text is not None:
        return text
    values = select_params(fleet, entry, node.params)
    apart = find_separators(fleet, values)
    unfit = {unfit.subjects[-1] for unfit in chosen.unfit(values, apart)}
    return chosen.write({name: value for name, value in values.items() if name not in unfit}, apart)


def render_files(fleet: Fleet, node: FleetNode, engine: TemplateEngine) -> dict[str, RenderedFile]:
    """Return a node's files by path, without those that cannot be rendered; findings report these."""
    files = {path: render_file(fleet, node, entry, engine) for path, entry in node.entries.items()}
    return {path: file for path, file in files.items() if file is not None}


def render_file(
    fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine
) -> RenderedFile | None:
    """Return one file of a node, or None if it cannot be rendered."""
    try:
        text = render_content(fleet, node, entry, engine)
    except TemplateProblem:
        return None
    if text is None:
        return None
    mode = mode_of(fleet, node, entry, engine)
    digest = file_digest(text, mode, entry)
    return RenderedFile(entry.path, text, mode, entry.owner, entry.group, digest)


def file_digest(text: str, mode: str, entry: FileEntry) -> str:
    """Return the SHA-256 of a file's mode, owner, group and content."""
    head = "\0".join((mode, entry.owner, entry.group, ""))
    return hashlib.sha256(head.encode() + text.encode()).hexdigest()


def node_digest(fleet: Fleet, node: FleetNode, files: Mapping[str, RenderedFile]) -> str:
    """Return the SHA-256 of a node's files and the subsystems that run on it.

    It covers the versions of the node's secrets too: a template may use a secret without showing its version.
    """
    parts = [[path, file.digest] for path, file in sorted(files.items())]
    parts += [[name, shown(value)] for name, value in node.node_class.some(node.secrets).items()]
    parts += [[name, subsystem_digest(subsystem)] for name, subsystem in find_subsystems(fleet, node).items()]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def find_subsystems(fleet: Fleet, node: FleetNode) -> dict[str, Subsystem]:
    """Return the subsystems that run on a node, by name; none on a retired node."""
    if node.definition.retired:
        return {}
    return {
        name: subsystem
        for name, subsystem in sorted(fleet.model.subsystems.items())
        if subsystem.features is None
        or any(ref.name in node.node_class.features for ref in subsystem.features)
    }


def subsystem_digest(subsystem: Subsystem) -> str:
    """Return the SHA-256 of what a subsystem does, independent of where it is defined."""
    done = msgspec.to_builtins(subsystem)
    for key in ("origin", "description"):
        del done[key]
    for key, value in done.items():
        if isinstance(value, list):  # drop the places of references
            done[key] = [item["name"] if isinstance(item, dict) else item for item in value]
    return hashlib.sha256(msgspec.json.encode(done, order="sorted")).hexdigest()


# Features and final values of nodes as text, without building all values in memory.

_HELD = 8  # texts of classes: neighbouring nodes are often alike, and more would only displace caches


def format_plain(fleet: Fleet, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each node with its values, one line `NAME = value` for each."""
    return _texts(fleet, names, Splicer(fleet.declarations, _line, "").text)


def format_json(fleet: Fleet, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each node with its `features` and `params` as a JSON object on one line."""
    encode = msgspec.json.Encoder().encode
    keys: dict[str, bytes] = {}

    def member(name: str, value: Any) -> bytes:
        key = keys.get(name)
        if key is None:
            key = keys[name] = b",%b:" % encode(name)
        return key + encode(value)

    splicer = Splicer(fleet.declarations, member, b"")

    def text(kind: NodeClass) -> bytes:
        params = memoryview(splicer.text(kind))[1:]  # without the first comma
        return b"".join((b'{"features":', encode(sorted(kind.features)), b',"params":{', params, b"}}"))

    return _texts(fleet, names, text)


def _texts(
    fleet: Fleet, names: Iterable[str], text: Callable[[NodeClass], AnyStr]
) -> Iterator[tuple[str, AnyStr]]:
    """Yield each node with the text of its class."""
    cached = lru_cache(_HELD)(text)
    return ((name, cached(fleet.node_classes[name])) for name in names)


def _line(name: str, value: Any) -> str:
    value = shown(value)
    return f"{name} = {value if isinstance(value, str) else msgspec.json.encode(value).decode()}\n"
