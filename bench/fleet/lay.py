"""Fleets on disk: files of a format in a folder, kept between runs as long as what made them is the same."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.fleet.options import Options

_SOURCES = Path(__file__).parents[1]


def fingerprint(options: Options) -> str:
    """Of a fleet's options and of all that draws and writes fleets."""
    digest = hashlib.sha256(repr(options).encode())
    for path in sorted([*_SOURCES.glob("fleet/*.py"), *_SOURCES.glob("peers/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fresh(folder: Path, mark: str) -> bool:
    """Whether the folder was finished for this mark; if not, it is empty afterwards."""
    stamp = folder.with_suffix(".made")
    if folder.is_dir() and stamp.is_file() and stamp.read_text() == mark:
        return True
    stamp.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return False


def finish(folder: Path, mark: str) -> None:
    """Say that the folder is whole."""
    folder.with_suffix(".made").write_text(mark)


def lay(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Write files below a folder."""
    for path, text in files:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, str]]:
    """The files that are other ones in the new fleet."""
    return [(path, text) for path, text in new.items() if old.get(path) != text]
