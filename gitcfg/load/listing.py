"""Which definitions a folder holds, known from the names of its files alone (GC101, GC103)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.git.tree import Entry, EntryKind
from gitcfg.load.kind import Kind
from gitcfg.load.names import Register
from gitcfg.load.reading import Reading
from gitcfg.model import Finding, Origin
from gitcfg.sandbox import progress


class Listing(msgspec.Struct, frozen=True):
    """The files of definitions by name, in order of path, and what is wrong with paths, by path."""

    entries: Mapping[str, Entry]
    findings: Mapping[str, tuple[Finding, ...]]


def listed(reading: Reading, kind: Kind[Any]) -> Listing:
    """The listing of a kind's folder; the reading stays as it was."""
    progress.note("listing", f"{kind.folder}/")
    sound = _sound(list(reading.tree.entries(kind.folder)), kind)
    return Listing(sound, {}) if sound is not None else _careful(reading, kind)


def _sound(entries: Sequence[Entry], kind: Kind[Any]) -> Mapping[str, Entry] | None:
    """Files by name, if nothing is wrong with any of them: a third of the time, and all commands wait."""
    found = {entry.path.rpartition("/")[2][: -len(".yaml")]: entry for entry in entries}
    sound = (
        len(found) == len(entries) == len(set(map(str.casefold, found)))
        and {entry.kind for entry in entries} <= {EntryKind.FILE}
        and all(entry.path.endswith(".yaml") for entry in entries)
        and all(map(kind.names.fullmatch, found))
    )
    return found if sound else None


def _careful(reading: Reading, kind: Kind[Any]) -> Listing:
    own = Reading(reading.tree)
    entries: dict[str, Entry] = {}
    wrong: dict[str, tuple[Finding, ...]] = {}
    register = Register(own, kind.noun, kind.names)
    for entry in own.files(kind.folder):
        name = entry.path.rpartition("/")[2][: -len(".yaml")]
        if register.admit(name, Origin(entry.path)):
            entries[name] = entry
    for finding in own.findings:
        path = finding.origins[0].file
        wrong[path] = (*wrong.get(path, ()), finding)
    return Listing(entries, wrong)
