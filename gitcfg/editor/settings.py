"""The files that `gitcfg schema` writes: schemas, lines that name them, and an editor's settings."""

import json
import os.path
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from gitcfg.editor.schemas import KINDS, build_schemas
from gitcfg.fs import write_whole
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.model import REFUSED, GitcfgError, Model

FOLDER = ".gitcfg/schema"
FILE = ".vscode/settings.json"
_KEY = "yaml.schemas"
_LINE = re.compile(rb"^#\s+(?:yaml-language-server\s*:|\$schema:)", re.MULTILINE)
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8, which may be at the start of a file
_MOST = 1 << 20  # the maximum bytes of a file that the loader accepts


class TargetFile(msgspec.Struct, frozen=True):
    """A file to write. `was` is the content from which the new one was made, if there was any."""

    place: Path
    content: bytes
    was: bytes | None = None


def find_stale(targets: Iterable[TargetFile]) -> tuple[TargetFile, ...]:
    """Return the files whose content differs. Raise GitcfgError (4) if one is not a file."""
    return tuple(file for file in targets if read_content(file.place) != file.content)


def read_content(place: Path) -> bytes | None:
    """Return the content of a file; None: there is none.

    Raise GitcfgError (4) if it is a link, or not a file.
    """
    if place.parent.resolve() != place.parent:
        raise GitcfgError(f"{place.parent} is a symbolic link.", "Replace it with a folder.", code=REFUSED)
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise GitcfgError(f"{place} is not a file.", "Move it away.", code=REFUSED)
    return place.read_bytes()


def write_files(
    targets: Iterable[TargetFile], written: Callable[[TargetFile], None] = lambda file: None
) -> None:
    """Write the files, in order, and call `written` after each.

    Raise GitcfgError (4) if another program has changed one in the meantime.
    """
    for file in targets:
        found = read_content(file.place)  # it refuses links, also where any content may be overwritten
        if file.was is not None and found != file.was:
            raise GitcfgError(f"{file.place} has changed in the meantime.", "Try again.", code=REFUSED)
        file.place.parent.mkdir(parents=True, exist_ok=True)
        try:
            mode = stat.S_IMODE(file.place.stat().st_mode)
        except FileNotFoundError:
            mode = 0o644
        write_whole(file.place, file.content, mode)
        written(file)


# The comment at the top of a file that names its schema for an editor.


def modeline(path: str, folder: str = FOLDER) -> str:
    """Return the comment, without a line end, for a file at a path below the repository's root.

    `folder` is the path of the schemas from the root.
    """
    kind = path.partition("/")[0].removesuffix(".yaml")
    schema = os.path.relpath(f"{folder}/{kind}.json", os.path.dirname(path) or ".")
    return f"# yaml-language-server: $schema={schema}"


def with_modeline(path: str, content: bytes, folder: str = FOLDER) -> bytes:
    """Return the content with a line that names its schema; unchanged if it names any schema."""
    start = len(_MARK) if content.startswith(_MARK) else 0
    if _LINE.search(content[start:]):
        return content
    first = content.find(b"\n", start)
    end = b"\r\n" if content[first - 1 : first] == b"\r" else b"\n"
    return content[:start] + modeline(path, folder).encode() + end + content[start:]


# Visual Studio Code's settings of a repository: the files of each schema.


def schema_files(folder: str = FOLDER) -> dict[str, list[str]]:
    """Return the files of each schema, as settings of the editor's YAML extension."""
    return {
        f"./{folder}/{kind}.json": ["gitcfg.yaml"] if kind == "gitcfg" else [f"{kind}/**/*.yaml"]
        for kind in KINDS
    }


def merge_settings(content: bytes | None, folder: str = FOLDER) -> bytes:
    """Return the settings with ours added, all others kept; the same bytes if ours are there already.

    Raise GitcfgError (4) if they have comments, or are not settings: the file then stays as it is.
    """
    if content is None:
        content = b""
    own = schema_files(folder)
    try:
        settings = json.loads(content.decode() or "{}", object_pairs_hook=_unique_keys)
    except ValueError:
        raise _refusal("it contains comments, or is not JSON", own) from None
    if not isinstance(settings, dict):
        raise _refusal("it is not a mapping", own)
    known = settings.get(_KEY, {})
    if not isinstance(known, dict):
        raise _refusal(f"its {_KEY} is not a mapping", own)
    if all(known.get(schema) == files for schema, files in own.items()):
        return content
    found = re.search(rb"\n([ \t]+)\S", content)
    indent = found[1].decode() if found else "    "
    merged = {**settings, _KEY: {**known, **own}}
    return (json.dumps(merged, indent=indent, ensure_ascii=False) + "\n").encode()


def _unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping. Raise ValueError if a key is repeated: writing the mapping would lose one."""
    found = list(pairs)
    result = dict(found)
    if len(result) != len(found):
        raise ValueError
    return result


def _refusal(why: str, own: dict[str, list[str]]) -> GitcfgError:
    entry = json.dumps({_KEY: own})[1:-1]
    return GitcfgError(f"Cannot change {FILE}: {why}.", f"Add this to it: {entry}", code=REFUSED)


# The files that `gitcfg schema` updates: schemas, the lines that name them, an editor's settings.


def plan_schemas(model: Model, root: Path, folder: Path) -> Iterator[TargetFile]:
    """Return the schemas of a repository. Their default folder is ignored by git."""
    if folder == root / FOLDER:
        yield TargetFile(root / ".gitcfg" / ".gitignore", b"*\n")
    for kind, schema in build_schemas(model).items():
        yield TargetFile(folder / f"{kind}.json", msgspec.json.encode(schema) + b"\n")


def plan_settings(root: Path, folder: str) -> TargetFile:
    """Return VS Code's settings with the schemas. Raise GitcfgError (4) if they cannot be merged."""
    was = read_content(root / FILE)
    return TargetFile(root / FILE, merge_settings(was, folder), was)


def plan_modelines(tree: Tree, root: Path, folder: str) -> Iterator[TargetFile]:
    """Return the files of a work tree without a line that names their schema, with that line."""
    paths = ["gitcfg.yaml"]
    for kind in KINDS:
        entries = (entry for entry in tree.entries(kind) if entry.kind is EntryKind.FILE)
        paths += [entry.path for entry in entries if entry.path.endswith(".yaml")]
    for path in paths:
        place = root / path
        was = read_content(place)
        if was is None:
            continue
        content = with_modeline(path, was, folder)
        if len(content) <= _MOST:
            yield TargetFile(place, content, was)
