"""A package out of JSON, read strictly: what is not understood is refused.

Unknown keys at the top are ignored, so that a newer server can say more; within files, subsystems and checks
they are refused, because they could change what is to be done.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .fields import hexadecimal, listed, mapping, one_of, shallow, word
from .package import ACTIVE, RETIRED, SCHEMA, Actions, Package
from .parts import DIGEST_LENGTHS, read_file, read_subsystem
from .paths import nested
from .problems import PackageError

MAX_BYTES = 128 << 20
"""Of a package's JSON."""

_COMMIT_LENGTHS = (40, 64)


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
    shallow(said.get("params"), "params")
    package = Package(
        node=word(said.get("node"), "node"),
        commit=hexadecimal(said.get("commit"), "commit", _COMMIT_LENGTHS),
        digest=hexadecimal(said.get("digest"), "digest", DIGEST_LENGTHS),
        state=one_of(said.get("state"), "state", (ACTIVE, RETIRED)),
        features=listed(said.get("features", []), "features", word),
        groups=listed(said.get("groups", []), "groups", word),
        params=mapping(said.get("params", {}), "params", 1_000_000),
        files={path: read_file(path, file) for path, file in sorted(files.items())},
        subsystems={name: read_subsystem(name, one) for name, one in sorted(subsystems.items())},
    )
    _fits_together(package)
    return package


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
