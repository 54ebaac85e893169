"""What a feature or group gives: the layer that it and all that it includes are composed to."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from gitcfg.comparison.files import Side
from gitcfg.compile.cell import Cell
from gitcfg.compile.operations import NOTHING, Step
from gitcfg.compile.partial import Partial
from gitcfg.history.meaning import said
from gitcfg.history.snapshot import Snapshot
from gitcfg.model import FileEntry


class Layer(msgspec.Struct, frozen=True):
    """Per parameter the operations that act, as JSON, lowest first; per path the file's entry and the
    texts it is made from; and the features inside.

    `reads`: does a file depend on more than its entry?
    """

    params: Mapping[str, bytes] = {}
    files: Mapping[str, str] = {}
    features: frozenset[str] = frozenset()
    reads: bool = False


def composed(partial: Partial, name: str, snapshot: Snapshot, side: Callable[[], Side]) -> Layer:
    """A partial as a layer; `side` is what to ask of templates."""
    entries = partial.files.values()
    return Layer(
        {param: _operations(cell) for param, cell in partial.cells.items()},
        {entry.path: said((entry, *_texts(entry, snapshot, side))) for entry in entries},
        partial.features - {name},
        any(entry.template or entry.source for entry in entries),
    )


def _operations(cell: Cell) -> bytes:
    return msgspec.json.encode([{"op": step.op.value, "given": _given(step)} for step in cell.steps])


def _given(step: Step) -> msgspec.Raw:
    """The operand as JSON in which equal maps are equal texts."""
    given = None if step.given is NOTHING else step.given
    return msgspec.Raw(msgspec.json.encode(given, order="sorted"))


def _texts(entry: FileEntry, snapshot: Snapshot, side: Callable[[], Side]) -> Iterator[bytes | None]:
    """The contents, by id, of the file that an entry names, and of all that a template takes in."""
    if entry.source is not None:
        yield snapshot.others["files"].get(f"files/{entry.source.name}")
    if entry.template is not None:
        templates = snapshot.others["templates"]
        yield templates.get(f"templates/{entry.template.name}")
        yield from (templates.get(f"templates/{name}") for name in _includes(entry, side()))


def _includes(entry: FileEntry, side: Side) -> Iterable[str]:
    """The templates that an entry's template takes in; all there are, where only rendering tells."""
    analysis = side.analysis(entry)
    if analysis is None:
        return ()
    return sorted(side.fleet.templates) if analysis.computed else analysis.includes
