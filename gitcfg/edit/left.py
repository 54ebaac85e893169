"""Where names still stand that definitions had before they were renamed: only people know what is meant."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.edit.draft import Draft, definitions
from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.git.tree import EntryKind
from gitcfg.model import Origin


class Left(msgspec.Struct, frozen=True):
    """An old name, where it still stands, and the line there."""

    name: str
    origin: Origin
    line: str


class Freed(msgspec.Struct, frozen=True):
    """A name that a definition of a kind had before, and where it stood when that was renamed."""

    kind: Kind
    name: str
    left: tuple[Left, ...]


def files(draft: Draft) -> Iterator[str]:
    """All files that may mention a definition."""
    yield "gitcfg.yaml"
    for folder in (*(kind.folder for kind in KINDS.values()), "templates"):
        for entry in list(draft.tree.entries(folder)):
            if entry.kind is EntryKind.FILE and (entry.path.endswith(".yaml") or folder == "templates"):
                yield entry.path


def left(draft: Draft, name: str) -> Iterator[Left]:
    """Where a name stands as a word of its own."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    for path in files(draft):
        data = draft.held(path)
        if name.encode() in data:
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if found := word.search(line):
                    yield Left(name, Origin(path, number, found.start() + 1), line)


def still_left(draft: Draft, freed: Iterable[Freed]) -> tuple[Left, ...]:
    """Where freed names stand after all edits.

    A name that another definition of that kind has got since is rightly in most places: then only the lines
    count that held it before.
    """
    found: dict[Left, None] = {}
    for one in freed:
        before = {place.line for place in one.left}
        taken = one.name in definitions(draft.model, one.kind)
        found |= dict.fromkeys(place for place in left(draft, one.name) if not taken or place.line in before)
    return tuple(found)
