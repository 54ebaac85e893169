"""The style, the script and the icon of the pages, each named by its digest, so that it never changes."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

PATH = "/assets/"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FILES = ("style.css", "live.js", "icon.svg")


class Asset(msgspec.Struct, frozen=True):
    """A file that pages load. `name` has its digest in it."""

    name: str
    body: bytes
    content_type: str

    @property
    def url(self) -> str:
        """Where it is."""
        return PATH + self.name


def asset(name: str) -> Asset | None:
    """The asset of a name, digest and all; None: there is none, or it was another version's."""
    return next((one for one in assets().values() if one.name == name), None)


@cache
def assets() -> Mapping[str, Asset]:
    """All of them, by the names of their files."""
    return {name: _read(name) for name in _FILES}


def _read(file: str) -> Asset:
    body = (files("gitcfg.web") / file).read_bytes()
    stem, _, kind = file.partition(".")
    return Asset(f"{stem}.{sha256(body).hexdigest()[:16]}.{kind}", body, _TYPES[kind])
