"""A dump of a Wallaby store as a repository in format 1, and what could not be carried over."""

from collections.abc import Mapping

import msgspec

from gitcfg.convert.notes import Note, sort_notes
from gitcfg.convert.wallaby.reading import read_store
from gitcfg.convert.wallaby.repository import build_repository
from gitcfg.load import yaml


class WallabyImport(msgspec.Struct, frozen=True):
    """A repository's files by path, and what to know about them, the heaviest first."""

    files: Mapping[str, str]
    notes: tuple[Note, ...]


def import_wallaby(data: bytes) -> WallabyImport:
    """Convert a dump. GitcfgError: it is none, or was cut short."""
    notes: list[Note] = []
    contents = build_repository(read_store(data, notes), notes)
    return WallabyImport({path: yaml.dump(contents[path]) for path in sorted(contents)}, sort_notes(notes))
