"""The style, script and icon of the pages; their names hold their digests, so that they never change."""

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
        """The path of the asset."""
        return PATH + self.name


def find_asset(name: str) -> Asset | None:
    """Find the asset of a name with its digest; None if there is none, or it is another version's."""
    return next((one for one in load_assets().values() if one.name == name), None)


@cache
def load_assets() -> Mapping[str, Asset]:
    """Load all assets, by the names of their files."""
    return {name: _read_asset(name) for name in _FILES}


def _read_asset(file: str) -> Asset:
    body = (files("gitcfg.web") / file).read_bytes()
    stem, _, kind = file.partition(".")
    return Asset(f"{stem}.{sha256(body).hexdigest()[:16]}.{kind}", body, _TYPES[kind])
