"""The files that `gitcfg schema` writes: schemas, lines that name them, and an editor's settings."""

import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from gitcfg.editor.modelines import FOLDER, with_modeline
from gitcfg.editor.schemas import KINDS, build_schemas
from gitcfg.fs import write_whole
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.model import REFUSED, GitcfgError, Model


class TargetFile(msgspec.Struct, frozen=True):
    """A file as it is to be. `was` is what that was made from, if it was made from what is there."""

    place: Path
    content: bytes
    was: bytes | None = None


def find_stale(wanted: Iterable[TargetFile]) -> tuple[TargetFile, ...]:
    """Return the files that are not as they are to be. Raise GitcfgError (4) if one is no file."""
    return tuple(file for file in wanted if read_content(file.place) != file.content)


def read_content(place: Path) -> bytes | None:
    """Return what a file holds; None: there is none. Raise GitcfgError (4) if it is a link, or no file."""
    if place.parent.resolve() != place.parent:
        raise GitcfgError(f"A link leads to {place.parent}.", "Replace it by a folder.", code=REFUSED)
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise GitcfgError(f"{place} is no file.", "Move it away.", code=REFUSED)
    return place.read_bytes()


def write_files(
    wanted: Iterable[TargetFile], written: Callable[[TargetFile], None] = lambda file: None
) -> None:
    """Write the files, in order; `written` is told each that is there.

    Raise GitcfgError (4) if one was written by somebody else meanwhile.
    """
    for file in wanted:
        found = read_content(file.place)  # it refuses links, whatever may be written over
        if file.was is not None and found != file.was:
            raise GitcfgError(f"{file.place} has changed meanwhile.", "Try again.", code=REFUSED)
        file.place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file.place, file.content, _mode(file.place))
        written(file)


def _mode(place: Path) -> int:
    """Return the mode of the file that is there; a new one can be read by all, and written by its owner."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        return 0o644


# Visual Studio Code's settings of a repository: which schema is for which files.

FILE = ".vscode/settings.json"
_KEY = "yaml.schemas"


def schema_files(folder: str = FOLDER) -> dict[str, list[str]]:
    """Return the files of each schema, as the editor's YAML extension takes them."""
    return {
        f"./{folder}/{kind}.json": ["gitcfg.yaml"] if kind == "gitcfg" else [f"{kind}/**/*.yaml"]
        for kind in KINDS
    }


def merge_settings(content: bytes | None, folder: str = FOLDER) -> bytes:
    """Return the settings with ours in them, all others kept; the very same bytes if ours are there.

    Raise GitcfgError (4) if they hold comments, or are no settings: they stay as they are.
    """
    if content is None:
        return _written({_KEY: schema_files(folder)}, "    ")
    settings = _read(content, folder)
    known = settings.get(_KEY, {})
    if not isinstance(known, dict):
        raise _refused(f"its {_KEY} is no mapping", folder)
    if all(known.get(schema) == files for schema, files in schema_files(folder).items()):
        return content
    indent = re.search(rb"\n([ \t]+)\S", content)
    return _written(
        {**settings, _KEY: {**known, **schema_files(folder)}}, indent[1].decode() if indent else "    "
    )


def _written(settings: dict[str, Any], indent: str) -> bytes:
    return (json.dumps(settings, indent=indent, ensure_ascii=False) + "\n").encode()


def _read(content: bytes, folder: str) -> dict[str, Any]:
    try:
        settings = json.loads(content.decode() or "{}", object_pairs_hook=_once)
    except ValueError:
        raise _refused("it holds comments, or is no JSON", folder) from None
    if not isinstance(settings, dict):
        raise _refused("it holds no mapping", folder)
    return settings


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping in which no key stands twice: writing it again would lose one."""
    found = list(pairs)
    result = dict(found)
    if len(result) != len(found):
        raise ValueError
    return result


def _refused(why: str, folder: str) -> GitcfgError:
    entry = json.dumps({_KEY: schema_files(folder)})[1:-1]
    return GitcfgError(f"{FILE} stays as it is: {why}.", f"Add this to it: {entry}", code=REFUSED)


# What `gitcfg schema` is to bring up to date: schemas, the lines that name them, an editor's settings.

_OWN = FOLDER.partition("/")[0]
_MOST = 1 << 20  # bytes of a file that the loader takes


def plan_schemas(model: Model, root: Path, folder: Path) -> Iterator[TargetFile]:
    """Return the schemas of a repository. Their usual folder is kept out of git."""
    if folder == root / FOLDER:
        yield TargetFile(root / _OWN / ".gitignore", b"*\n")
    for kind, schema in build_schemas(model).items():
        yield TargetFile(folder / f"{kind}.json", msgspec.json.encode(schema) + b"\n")


def plan_settings(root: Path, folder: str) -> TargetFile:
    """Return VS Code's settings with the schemas. Raise GitcfgError (4) if they cannot be merged."""
    was = read_content(root / FILE)
    return TargetFile(root / FILE, merge_settings(was, folder), was)


def plan_modelines(tree: Tree, root: Path, folder: str) -> Iterator[TargetFile]:
    """Return the files of a work tree without a line that names their schema, with that line."""
    for path in _paths(tree):
        place = root / path
        was = read_content(place)
        if was is None:
            continue
        said = with_modeline(path, was, folder)
        if len(said) <= _MOST:
            yield TargetFile(place, said, was)


def _paths(tree: Tree) -> Iterator[str]:
    yield "gitcfg.yaml"
    for kind in KINDS:
        for entry in tree.entries(kind):
            if entry.kind is EntryKind.FILE and entry.path.endswith(".yaml"):
                yield entry.path
