"""The parts of a package out of JSON: files, and subsystems with their commands and checks."""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from typing import Any

from .concealed import Hidden, hidden_from_json
from .fields import command, hexadecimal, known, listed, mapping, number, one_of, text, word
from .package import Check, File, Subsystem, file_digest
from .paths import problem_of_path
from .problems import PackageError

MAX_FILE = 16 << 20
"""Bytes of one file's content; a template makes at most 4 MiB."""

DIGEST_LENGTHS = (64,)
_MODE = re.compile(r"0?[0-7]{3}")
_FILE_KEYS = ("content", "base64", "mode", "owner", "group", "digest", "concerns", "sealed", "hidden")
_COMMAND_KEYS = ("validate", "reload", "restart", "stop")
_SUBSYSTEM_KEYS = (*_COMMAND_KEYS, "check", "using", "covers")


def read_file(path: str, value: object) -> File:
    """A file, whose content has the digest that the package says."""
    problem = problem_of_path(path)
    if problem:
        raise PackageError(f"The path {path!r} {problem}.")
    said = mapping(value, path)
    known(said, path, _FILE_KEYS)
    file = File(
        path=path,
        content=_content(said, path),
        mode=_mode(said.get("mode"), path),
        owner=word(said.get("owner"), f"{path}: owner"),
        group=word(said.get("group"), f"{path}: group"),
        digest=hexadecimal(said.get("digest"), f"{path}: digest", DIGEST_LENGTHS),
        concerns=_concerns(said.get("concerns", {}), path),
        hidden=_hidden(said, path),
    )
    if file_digest(file.mode, file.owner, file.group, file.content) != file.digest:
        raise PackageError(f"{path} does not have the digest that the package says.")
    return file


def _content(said: Mapping[str, Any], path: str) -> bytes:
    import base64

    if ("content" in said) == ("base64" in said):
        raise PackageError(f"{path} has not one of content and base64.")
    try:
        if "content" in said:
            raw = str(said["content"]).encode() if isinstance(said["content"], str) else None
        else:
            raw = base64.b64decode(said["base64"], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise PackageError(f"{path} has content that cannot be read.") from error
    if raw is None or len(raw) > MAX_FILE:
        raise PackageError(f"{path} has content that is not text, or more than {MAX_FILE >> 20} MiB.")
    return raw


def _hidden(said: Mapping[str, Any], path: str) -> Hidden | None:
    if said.get("sealed") is not None:
        raise PackageError(f"{path} is sealed, and nobody has opened it.")
    return hidden_from_json(said, path, MAX_FILE)


def _mode(value: object, path: str) -> str:
    """Modes that let a program run as its owner (setuid, setgid) are refused, and sticky ones."""
    said = text(value, f"{path}: mode")
    if not _MODE.fullmatch(said):
        raise PackageError(f"{path} has the mode {said!r}: three octal digits after a 0 are meant.")
    return said


def _concerns(value: object, path: str) -> dict[str, str]:
    said = mapping(value, f"{path}: concerns")
    return {name: one_of(how, f"{path}: concerns", ("reload", "restart")) for name, how in said.items()}


def read_subsystem(name: str, value: object) -> Subsystem:
    """A subsystem; one without commands is one too."""
    where = f"subsystem {word(name, 'a subsystem')}"
    said = mapping(value, where)
    known(said, where, _SUBSYSTEM_KEYS)
    commands = {key: command(said.get(key), f"{where}: {key}") for key in _COMMAND_KEYS}
    return Subsystem(
        name=name,
        check=_check(said.get("check"), f"{where}: check"),
        using=one_of(said.get("using", "new"), f"{where}: using", ("new", "old")),
        covers=listed(said.get("covers", []), f"{where}: covers", word),
        **commands,
    )


def _check(value: object, where: str) -> Check | None:
    if value is None:
        return None
    said = mapping(value, where)
    known(said, where, ("run", "timeout", "retries"))
    run = command(said.get("run"), where)
    if not run:
        raise PackageError(f"{where} runs nothing.")
    timeout = number(said.get("timeout", 60), f"{where}: timeout", 3600)
    retries = number(said.get("retries", 0), f"{where}: retries", 1000)
    return Check(run, float(timeout), int(retries))
