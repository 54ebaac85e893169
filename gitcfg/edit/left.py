"""Where names still stand that definitions had before they were renamed: only people know what is meant."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.edit.draft import Draft, definitions
from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.git.tree import EntryKind
from gitcfg.model import Origin


class Leftover(msgspec.Struct, frozen=True):
    """An old name, where it still stands, and the line there."""

    name: str
    origin: Origin
    line: str


class FreedName(msgspec.Struct, frozen=True):
    """A name that a definition of a kind had before, and where it stood when that was renamed."""

    kind: Kind
    name: str
    left: tuple[Leftover, ...]


def list_files(draft: Draft) -> Iterator[str]:
    """All files that may mention a definition."""
    yield "gitcfg.yaml"
    for folder in (*(kind.folder for kind in KINDS.values()), "templates"):
        for entry in list(draft.tree.entries(folder)):
            if entry.kind is EntryKind.FILE and (entry.path.endswith(".yaml") or folder == "templates"):
                yield entry.path


def find_leftovers(draft: Draft, name: str) -> Iterator[Leftover]:
    """Where a name stands as a word of its own."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    for path in list_files(draft):
        data = draft.held(path)
        if name.encode() in data:
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if found := word.search(line):
                    yield Leftover(name, Origin(path, number, found.start() + 1), line)


def recheck_leftovers(draft: Draft, freed: Iterable[FreedName]) -> tuple[Leftover, ...]:
    """Where freed names stand after all edits.

    A name that another definition of that kind has got since is rightly in most places: then only the lines
    count that held it before.
    """
    found: dict[Leftover, None] = {}
    for one in freed:
        before = {place.line for place in one.left}
        taken = one.name in definitions(draft.model, one.kind)
        found |= dict.fromkeys(
            place for place in find_leftovers(draft, one.name) if not taken or place.line in before
        )
    return tuple(found)
