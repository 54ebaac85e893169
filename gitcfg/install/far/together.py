"""A package put together again, of the parts and contents that came and those that stood here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..package import file_digest
from .parts import FILE, OWN


def put_together(
    head: Mapping[str, Any], pieces: Iterable[bytes], contents: Mapping[str, bytes]
) -> dict[str, Any]:
    """The package again, without the true contents; the files' digests are made anew.

    ValueError, KeyError or TypeError where that was no package.
    """
    package: dict[str, Any] = {**head, "files": {}}
    for piece in pieces:
        said = json.loads(piece)
        if said[0] == "file":
            package["files"][said[1]] = _file(said[2], contents)
        elif said[0] in OWN:
            package[said[0]] = said[1]
    return package


def _file(said: Mapping[str, Any], contents: Mapping[str, bytes]) -> dict[str, Any]:
    import base64

    content = contents[said["content"][0]]
    file = {key: said[key] for key in FILE if key in said}
    file["digest"] = file_digest(str(said["mode"]), str(said["owner"]), str(said["group"]), content)
    try:
        file["content"] = content.decode()
    except UnicodeDecodeError:
        file["base64"] = base64.b64encode(content).decode()
    if said.get("hidden"):
        file["hidden"] = {"sha256": said["hidden"][0], "size": said["hidden"][1]}
    return file
