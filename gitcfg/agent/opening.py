"""A package as the server sends it, with the contents opened that are sealed to this node's key."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from ..install import Package, PackageError, hidden, package_from_json
from ..install.parts import MAX_FILE
from ..install.reading import decoded
from .identity import Identity


def opened_package(raw: bytes, who: Identity) -> Package:
    """The package, whose secrets are in memory alone. PackageError: it is none, or sealed to another key."""
    said = decoded(raw)
    files = said.get("files") if isinstance(said, dict) else None
    contents = _contents(files, who) if isinstance(files, dict) else {}
    package = package_from_json(said)
    if not contents:
        return package
    known = {path: hidden(package.files[path], content) for path, content in contents.items()}
    return package._replace(files={**package.files, **known})


def _contents(files: dict[str, Any], who: Identity) -> dict[str, bytes]:
    """What was sealed, by path; taken out of the files, for nobody else reads it."""
    found = {}
    for path, file in files.items():
        if isinstance(file, dict) and isinstance(file.get("sealed"), str):
            found[path] = _content(path, file["sealed"], who)
            file["sealed"] = None
    return found


def _content(path: str, text: str, who: Identity) -> bytes:
    from .sealed import Unopened, opened

    try:
        content = opened(base64.b64decode(text, validate=True), who)
    except Unopened as error:
        raise PackageError(f"The secrets of {path} cannot be opened: {error}.") from None
    except (binascii.Error, ValueError):
        raise PackageError(f"The secrets of {path} are not in base64.") from None
    if len(content) > MAX_FILE:
        raise PackageError(f"{path} has more than {MAX_FILE >> 20} MiB.")
    return content
