"""Visual Studio Code's settings of a repository: which schema is for which files."""

import json
import re
from collections.abc import Iterable
from typing import Any

from gitcfg.editor.modelines import FOLDER
from gitcfg.editor.schemas import KINDS
from gitcfg.model import REFUSED, GitcfgError

FILE = ".vscode/settings.json"
_KEY = "yaml.schemas"


def schema_files(folder: str = FOLDER) -> dict[str, list[str]]:
    """The files of each schema, as the editor's YAML extension takes them."""
    return {
        f"./{folder}/{kind}.json": ["gitcfg.yaml"] if kind == "gitcfg" else [f"{kind}/**/*.yaml"]
        for kind in KINDS
    }


def merge_settings(content: bytes | None, folder: str = FOLDER) -> bytes:
    """The settings with ours in them, all others kept; the very same bytes if ours are there.

    GitcfgError (4): they hold comments, or are no settings: they stay as they are.
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
    """A mapping in which no key stands twice: writing it again would lose one."""
    found = list(pairs)
    result = dict(found)
    if len(result) != len(found):
        raise ValueError
    return result


def _refused(why: str, folder: str) -> GitcfgError:
    entry = json.dumps({_KEY: schema_files(folder)})[1:-1]
    return GitcfgError(f"{FILE} stays as it is: {why}.", f"Add this to it: {entry}", code=REFUSED)
