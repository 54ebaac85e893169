"""A package in parts that each travel only where the other end does not have them.

The parts are JSON that both ends write alike: the parameters, the subsystems, and each file without its
content. Their short ids travel always (8 bytes each), then those parts that the node lacks, then the contents
that it lacks. What the short ids leave open the whole sum of all parts decides. Where all of it is small and
nothing of it secret, it travels at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..package import file_digest

ID = 8
SMALL = 8192
"""Bytes of a whole order, its contents among them, that travel unasked: to ask costs two packets more."""
_HEAD = ("schema", "node", "commit", "digest", "state", "features", "groups")
OWN = ("params", "subsystems")
FILE = ("mode", "owner", "group", "concerns", "sealed")


class Content(NamedTuple):
    """A content by its SHA-256, and the files that have it; `secret`: a true one, which is nowhere shown."""

    sha256: str
    size: int
    secret: bool
    paths: tuple[str, ...]


class Parts(NamedTuple):
    """A package taken apart: `pieces` in a fixed order, and the contents by their SHA-256."""

    head: dict[str, Any]
    pieces: tuple[bytes, ...]
    contents: dict[str, bytes]


def split_package(package: Mapping[str, Any], hidden: Mapping[str, bytes]) -> Parts:
    """Return the parts of a gitcfg.node/1; `hidden` are the true contents of files that hold secrets."""
    contents: dict[str, bytes] = {}
    pieces = [canonical([key, package.get(key, {})]) for key in OWN]
    for path, file in sorted(package["files"].items()):
        part = {key: file[key] for key in FILE if key in file}
        part["content"] = _keep(contents, raw_content(file))
        if path in hidden:
            part["sealed"] = None
            part["hidden"] = _keep(contents, hidden[path])
        elif file.get("hidden"):
            part["hidden"] = [file["hidden"]["sha256"], file["hidden"]["size"]]
        pieces.append(canonical(["file", path, part]))
    head = {key: package[key] for key in _HEAD if key in package}
    return Parts(head, tuple(pieces), contents)


def list_contents(pieces: Iterable[bytes]) -> tuple[Content, ...]:
    """Return the contents that files need, each once, in an order that both ends have."""
    found: dict[tuple[str, bool], Content] = {}
    for piece in pieces:
        part = json.loads(piece)
        if part[0] == "file":
            for key in ("content", "hidden"):
                if part[2].get(key):
                    sha256, size = part[2][key]
                    if type(size) is not int:
                        raise TypeError("a size is a number")
                    name = (str(sha256), key == "hidden")
                    known = found.get(name, Content(name[0], size, name[1], ()))
                    found[name] = known._replace(paths=(*known.paths, str(part[1])))
    return tuple(found.values())


def short_ids(pieces: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the short id of each piece."""
    return tuple(hashlib.sha256(piece).digest()[:ID] for piece in pieces)


def whole_sum(pieces: Sequence[bytes]) -> str:
    """Return the SHA-256 that stands for all pieces."""
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(hashlib.sha256(piece).digest())
    return whole.hexdigest()


def canonical(value: object) -> bytes:
    """Return JSON that is the same wherever it is written."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def raw_content(file: Mapping[str, Any]) -> bytes:
    """Return the content of a file as bytes."""
    if "content" in file:
        return str(file["content"]).encode()
    import base64

    return base64.b64decode(file["base64"])


def _keep(contents: dict[str, bytes], content: bytes) -> list[object]:
    sha256 = hashlib.sha256(content).hexdigest()
    contents[sha256] = content
    return [sha256, len(content)]


def join_package(
    head: Mapping[str, Any], pieces: Iterable[bytes], contents: Mapping[str, bytes]
) -> dict[str, Any]:
    """The package again, without the true contents; the files' digests are made anew.

    ValueError, KeyError or TypeError where that was no package.
    """
    package: dict[str, Any] = {**head, "files": {}}
    for piece in pieces:
        part = json.loads(piece)
        if part[0] == "file":
            package["files"][part[1]] = _join_file(part[2], contents)
        elif part[0] in OWN:
            package[part[0]] = part[1]
    return package


def _join_file(part: Mapping[str, Any], contents: Mapping[str, bytes]) -> dict[str, Any]:
    import base64

    content = contents[part["content"][0]]
    file = {key: part[key] for key in FILE if key in part}
    file["digest"] = file_digest(str(part["mode"]), str(part["owner"]), str(part["group"]), content)
    try:
        file["content"] = content.decode()
    except UnicodeDecodeError:
        file["base64"] = base64.b64encode(content).decode()
    if part.get("hidden"):
        file["hidden"] = {"sha256": part["hidden"][0], "size": part["hidden"][1]}
    return file
