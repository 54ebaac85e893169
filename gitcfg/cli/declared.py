"""Declarations of what HTCondor knows, added to a repository; what is declared there already stays."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gitcfg.cli.session import Session
from gitcfg.model.folders import SETTINGS

if TYPE_CHECKING:
    from gitcfg.convert.condor.htcondor import HTCondor
    from gitcfg.library import Source


def declared(session: Session, installed: "HTCondor", folder: Path) -> tuple[int, int]:
    """Declare the names that are not; how many these are, and in how many new files: all, or none."""
    from gitcfg.bundled import pack_files
    from gitcfg.convert.condor.parameters import default_files
    from gitcfg.edit.create import create_repository

    if (folder / SETTINGS).exists():
        return _added(session, installed, folder)
    files = default_files(installed.defaults.values(), lambda name: False, ())
    begun = {path: content.decode() for path, content in pack_files("empty").items()}
    create_repository(folder, {**begun, **files}, "Declare what HTCondor knows")
    return len(installed.defaults), len(files)


def _added(session: Session, installed: "HTCondor", folder: Path) -> tuple[int, int]:
    from gitcfg.cli.written import alone, put_down
    from gitcfg.convert.condor.parameters import default_files
    from gitcfg.edit.transaction import FileChange, finish_if_interrupted
    from gitcfg.library import open

    source = open(folder)
    with alone(session, source.repository) as place:
        known = _known(source)
        there = {path.relative_to(folder).as_posix() for path in folder.glob("parameters/**/*.yaml")}
        files = default_files(installed.defaults.values(), known, there)
        written = {path: FileChange(None, text.encode()) for path, text in files.items()}
        if written:
            with finish_if_interrupted(source.repository.root, place):
                put_down(source.repository, place, written, None)
    return sum(not known(one.name) for one in installed.defaults.values()), len(files)


def _known(source: "Source") -> Callable[[str], bool]:
    """Is a name declared, by itself or by a pattern?"""
    from gitcfg.model.names import glob, is_glob

    with source.worktree() as fleet:
        names: Iterable[str] = tuple(fleet.model.parameters)
    patterns = [glob(name) for name in names if is_glob(name)]
    found = {name.casefold() for name in names}
    return lambda name: name.casefold() in found or any(pattern.matches(name) for pattern in patterns)
