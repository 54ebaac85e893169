"""Reading a host: its files in the order in which HTCondor reads them, and notes on all others."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath, PurePosixPath

from gitcfg.convert.condor.host import Host, arrange, walk_files
from gitcfg.convert.condor.htcondor import Builtins
from gitcfg.convert.condor.reader import Reader
from gitcfg.convert.condor.sources import (
    EXCLUDED,
    LOCAL,
    LOCAL_FOLDER,
    MAIN,
    Exclusion,
    Folder,
    Input,
    Source,
)
from gitcfg.convert.notes import Note, Place
from gitcfg.model.names import shown

_FOLDERS, _FILES = "LOCAL_CONFIG_DIR", "LOCAL_CONFIG_FILE"
_EXCLUDED = f"{_FOLDERS}_EXCLUDE_REGEXP"


def read_host(name: str, given: Iterable[Input], builtins: Builtins, notes: list[Note]) -> Host:
    """Read a host. Raise GitcfgError if HTCondor would not accept its files, or they are too large."""
    reader = Reader(name, builtins, notes)
    machines = []
    for one in given:
        if isinstance(one, Source):
            reader.read_file(one)
            continue
        reader.folder = one
        machines.append(_Machine(one, reader))
        machines[-1].read()
        reader.folder = None
    read = tuple(reader.read)
    files = [one.source.name for one in walk_files(read)]
    _note_missing(name, reader, machines)
    for machine in machines:
        machine.note_unread(files)
    return arrange(reader.state.items, reader.state.tangled, reader.annotations.features, read)


def _note_missing(name: str, reader: Reader, machines: Sequence["_Machine"]) -> None:
    """Note what LOCAL_CONFIG_DIR and LOCAL_CONFIG_FILE name, and is not among the files given.

    Files that were given one by one are recognized by their own names and those of their folders.
    """
    found = {path for machine in machines for path in machine.found}
    folders = [machine.folder.path for machine in machines]
    files = [PurePath(one.source.name) for one in reader.read]
    alone = [file for file in files if not any(map(file.is_relative_to, folders))]
    known = {part for file in alone for part in file.parts[-2:]}
    for option in (_FOLDERS, _FILES):
        value = reader.value_of(option)
        for path in _split_paths(value) if not value.endswith("|") else ():
            if path not in found and PurePosixPath(path).name not in known:
                reason = f"{option} names it, and it is not among the files given: it is not read."
                Place(reader.notes, "host", name).dropped(shown(path), reason)


class _Machine:
    """A folder that is read as HTCondor reads the machine that it was saved from.

    `found` are the machine's paths that are in the folder.
    """

    def __init__(self, folder: Folder, reader: Reader) -> None:
        self.folder, self.reader = folder, reader
        self.found: set[str] = set()
        self._excluded: list[str] = []

    def read(self) -> None:
        """Read the main file, then what LOCAL_CONFIG_DIR and LOCAL_CONFIG_FILE name.

        Without a main file, read what the one of HTCondor's packages names.
        """
        main = self.folder.main
        if main is not None:
            self.reader.read_file(self.folder.source(main))
        elif not self.folder.is_flat:
            reason = f"There is no {MAIN}: {LOCAL_FOLDER} and then {LOCAL} are read, as if it named these."
            Place(self.reader.notes, "folder", str(self.folder.path)).look("", reason)
        folders = self._folders(None)
        self._files()
        self._folders(folders)

    def _folders(self, known: str | None) -> str:
        """Read the folders that LOCAL_CONFIG_DIR names, unless its value is as known; return the value."""
        value = self.reader.value_of(_FOLDERS)
        if value == known:
            return value
        places = self._located(_FOLDERS, _split_paths(value))
        if self.folder.main is None and known is None and not places:
            usual = "." if self.folder.is_flat else self.folder.find_packaged(LOCAL_FOLDER)
            places = [usual] if usual is not None else []
        exclusion = Exclusion(self.reader.value_of(_EXCLUDED) or EXCLUDED)
        for place in places:
            for file in self.folder.list_files(place):
                if exclusion.covers(PurePosixPath(file).name):
                    self._excluded.append(file)
                else:
                    self.reader.read_file(self.folder.source(file))
        return value

    def _files(self) -> None:
        """Read the files that LOCAL_CONFIG_FILE names; each may change that."""
        read: list[str] = []
        value = self.reader.value_of(_FILES)
        if value.endswith("|"):
            reason = f"{_FILES} runs a program: nothing is run."
            Place(self.reader.notes, "folder", str(self.folder.path)).dropped(_FILES, reason)
            return
        wanted = _split_paths(value)
        while wanted:
            read.append(wanted[0])
            for place in self._located(_FILES, wanted[:1]):
                self._local(place)
            now = self.reader.value_of(_FILES) or value  # set to nothing, it changes nothing any more
            wanted = wanted[1:] if now == value else _split_paths(now)
            wanted = [path for path in wanted if path not in read]
            value = now
        usual = self.folder.find_packaged(LOCAL)
        if self.folder.main is None and not self.found.intersection(read) and usual is not None:
            self._local(usual)

    def _local(self, place: str) -> None:
        if not self.folder.is_file(place):
            return
        source = self.folder.source(place)
        reason = "HTCondor reads it after what gitcfg writes: take it away where gitcfg's files are."
        Place(self.reader.notes, "file", source.name).look("", reason)
        self.reader.read_file(source)

    def _located(self, option: str, paths: Sequence[str]) -> list[str]:
        """Return the places of the machine's paths, as far as they are in the folder."""
        places = {path: self.folder.find(path) for path in paths}
        taken = {place for place in places.values() if place is not None}
        for path, place in places.items():
            if place is not None:
                continue
            guess = self.folder.guess(path)
            if guess is not None and guess not in taken:
                places[path] = guess
                reason = f"{option} names {shown(path)}: it is taken to be what was saved by this last name."
                Place(self.reader.notes, "file", str(self.folder.path / guess)).look("", reason)
        self.found.update(path for path, place in places.items() if place is not None)
        return [place for place in places.values() if place is not None]

    def note_unread(self, files: Sequence[str]) -> None:
        """Note each file that was not read."""
        above = self.folder.path
        inside = [PurePath(file) for file in files]
        read = [path.relative_to(above).as_posix() for path in inside if path.is_relative_to(above)]
        for place in self.folder.find_unread(read):
            reason = "It is not read: nothing that HTCondor reads here names it."
            if place in self._excluded:
                reason = f"It is not read: HTCondor leaves out such names ({_EXCLUDED})."
            Place(self.reader.notes, "file", shown(str(above / place), 200)).dropped("", reason)


def _split_paths(paths: str) -> list[str]:
    return [path for path in re.split(r"[,\s]+", paths) if path]
