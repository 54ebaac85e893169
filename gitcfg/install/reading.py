"""A package out of JSON, read strictly: what is not understood is refused.

Unknown keys at the top are ignored, so that a newer server can say more; within files, subsystems and checks
they are refused, because they could change what is to be done.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .fields import command, hexadecimal, known, listed, mapping, number, one_of, text, word
from .package import ACTIVE, RETIRED, SCHEMA, Actions, Check, File, Package, Subsystem, file_digest
from .paths import nested, problem_of_path
from .problems import PackageError

MAX_BYTES = 128 << 20
"""Of a package's JSON."""
MAX_FILE = 16 << 20
"""Of one file's content; a template makes at most 4 MiB."""

_MODE = re.compile(r"0?[0-7]{3}")
_FILE_KEYS = ("content", "base64", "mode", "owner", "group", "digest", "concerns")
_COMMAND_KEYS = ("validate", "reload", "restart", "stop")
_SUBSYSTEM_KEYS = (*_COMMAND_KEYS, "check", "using", "covers")
_COMMIT_LENGTHS, _DIGEST_LENGTHS = (40, 64), (64,)


def read_package(raw: bytes) -> Package:
    """The package that JSON of gitcfg.node/1 says. PackageError says what is wrong with it."""
    return package_from_json(decoded(raw))


def read_actions(said: Mapping[str, Any]) -> Actions:
    """What a gitcfg.changes/1 asks for."""
    lists = (listed(said.get(key, []), key, word) for key in ("restart", "reload", "stop"))
    return Actions(*lists)


def decoded(raw: bytes) -> object:
    """JSON as plain data, without repeated keys, NaN or endless nesting."""
    if len(raw) > MAX_BYTES:
        raise PackageError(f"The package is larger than {MAX_BYTES >> 20} MiB.")
    try:
        return json.loads(raw, object_pairs_hook=_unrepeated, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise PackageError("The package is not JSON.") from error


def package_from_json(value: object) -> Package:
    """The package that decoded JSON says."""
    said = mapping(value, "The package")
    one_of(said.get("schema"), "schema", (SCHEMA,))
    files = mapping(said.get("files"), "files")
    subsystems = mapping(said.get("subsystems"), "subsystems")
    package = Package(
        node=word(said.get("node"), "node"),
        commit=hexadecimal(said.get("commit"), "commit", _COMMIT_LENGTHS),
        digest=hexadecimal(said.get("digest"), "digest", _DIGEST_LENGTHS),
        state=one_of(said.get("state"), "state", (ACTIVE, RETIRED)),
        features=listed(said.get("features", []), "features", word),
        groups=listed(said.get("groups", []), "groups", word),
        params=mapping(said.get("params", {}), "params", 1_000_000),
        files={path: _file(path, file) for path, file in sorted(files.items())},
        subsystems={name: _subsystem(name, one) for name, one in sorted(subsystems.items())},
    )
    _fits_together(package)
    return package


def _file(path: str, value: object) -> File:
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
        digest=hexadecimal(said.get("digest"), f"{path}: digest", _DIGEST_LENGTHS),
        concerns=_concerns(said.get("concerns", {}), path),
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


def _mode(value: object, path: str) -> str:
    """Modes that let a program run as its owner (setuid, setgid) are refused, and sticky ones."""
    said = text(value, f"{path}: mode")
    if not _MODE.fullmatch(said):
        raise PackageError(f"{path} has the mode {said!r}: three octal digits after a 0 are meant.")
    return said


def _concerns(value: object, path: str) -> dict[str, str]:
    said = mapping(value, f"{path}: concerns")
    return {name: one_of(how, f"{path}: concerns", ("reload", "restart")) for name, how in said.items()}


def _subsystem(name: str, value: object) -> Subsystem:
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


def _fits_together(package: Package) -> None:
    clash = nested(package.files)
    if clash:
        raise PackageError(f"{clash[0]} is a file and the folder of {clash[1]}.")
    for path, file in package.files.items():
        strangers = sorted(set(file.concerns) - set(package.subsystems))
        if strangers:
            raise PackageError(f"{path} concerns {strangers[0]!r}, which is no subsystem of this node.")


def _unrepeated(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
