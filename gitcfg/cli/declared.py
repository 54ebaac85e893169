"""Declarations of what HTCondor knows, added to a repository; what is declared there already stays."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitcfg.convert.condor import HTCondor


def declared(installed: "HTCondor", folder: Path) -> tuple[int, int]:
    """Declare the names that are not; how many these are, and in how many new files."""
    from gitcfg.convert.condor.defaults import default_files
    from gitcfg.convert.packs import pack_files
    from gitcfg.edit.added import add
    from gitcfg.edit.create import MARKER, create
    from gitcfg.library import open
    from gitcfg.model.globs import glob, is_glob

    found: set[str] = set()
    patterns: list[str] = []
    new = not (folder / MARKER).exists()
    if not new:
        with open(folder).worktree() as fleet:
            names = fleet.model.parameters
            patterns = [name for name in names if is_glob(name)]
            found = {name.casefold() for name in names}

    def known(name: str) -> bool:
        return name.casefold() in found or any(glob(pattern).matches(name) for pattern in patterns)

    there = {path.relative_to(folder).as_posix() for path in folder.glob("parameters/**/*.yaml")}
    files = default_files(installed.defaults.values(), known, there)
    added = sum(not known(one.name) for one in installed.defaults.values())
    if new:
        create(folder, {**pack_files("empty"), **files}, "Declare what HTCondor knows")
    else:
        add(folder, files)
    return added, len(files)
