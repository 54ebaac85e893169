"""Declarations of all names that HTCondor knows, with types, defaults and descriptions, by first letter."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from gitcfg.convert.condor.known import KnownName
from gitcfg.convert.condor.shapes import infer_type
from gitcfg.convert.definitions import DEFAULTS
from gitcfg.convert.literals import convert_text
from gitcfg.load import yaml
from gitcfg.model.names import PARAMETER

FOLDER = "parameters/htcondor"
_BLANKS = re.compile(r"\s+")


def default_files(
    known: Iterable[KnownName], declared: Callable[[str], bool], taken: Collection[str]
) -> dict[str, str]:
    """New files by path, for the names that are not declared yet; no path is one that is `taken`."""
    letters: dict[str, dict[str, Any]] = {}
    for one in sorted(known, key=lambda one: (one.name.lower(), one.name)):
        if PARAMETER.fullmatch(one.name) and not declared(one.name):
            letters.setdefault(one.name[0].lower(), {})[one.name] = declare(one)
    return {
        _free_path(letter, taken): yaml.dump(_content(found)) for letter, found in sorted(letters.items())
    }


def _content(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {"defaults": {**DEFAULTS, "tags": ["htcondor"]}, "parameters": dict(declared)}


def _free_path(letter: str, taken: Collection[str]) -> str:
    number, path = 2, f"{FOLDER}/{letter}.yaml"
    while path in taken:
        number, path = number + 1, f"{FOLDER}/{letter}{number}.yaml"
    return path


def declare(known: KnownName) -> dict[str, Any]:
    """What is declared of a name, without what the file's `defaults:` say."""
    text = None if known.value is None else _BLANKS.sub(" ", known.value).strip()
    kind = _default_type(known.kind, text or "")
    return {
        **({"description": words} if (words := _BLANKS.sub(" ", known.description).strip()) else {}),
        **({"type": kind} if kind != DEFAULTS["type"] else {}),
        **({"default": convert_text(kind, text)} if text is not None else {}),
    }


def _default_type(known: str, text: str) -> str:
    """HTCondor's own type, but where its own default is an expression, values may be others."""
    if not text or known == "path":
        return known
    kind = infer_type([text], known)
    if kind in (known, "expression") or known == "string":
        return kind
    return known if "$" in text else "expression"
