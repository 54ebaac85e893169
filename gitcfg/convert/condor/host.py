"""What a host's configuration says: settings in order, and the lines that only HTCondor itself can read."""

from collections.abc import Mapping

import msgspec

from gitcfg.convert.condor.lines import Line


class Setting(msgspec.Struct, frozen=True):
    """NAME = VALUE, in a feature (empty: in none); `default`: the value is the parameter's default.

    `about` is the comment above it.
    """

    name: str
    value: str
    feature: str
    default: bool
    line: Line
    about: str = ""

    @property
    def key(self) -> str:
        """HTCondor's names are the same in any case."""
        return self.name.lower()


class Kept(msgspec.Struct, frozen=True):
    """Lines that stay as they are, and the names that they read or set; None: that may be any."""

    raw: str
    names: frozenset[str] | None
    line: Line


class Declared(msgspec.Struct, frozen=True):
    """What annotations say of a feature."""

    includes: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()


class Host(msgspec.Struct, frozen=True):
    """One host: what became settings, the text that stays, and the features that annotations name."""

    settings: tuple[Setting, ...]
    text: str
    features: Mapping[str, Declared]


def untangled(items: list[Setting | Kept], tangled: set[str], features: Mapping[str, Declared]) -> Host:
    """A host whose kept lines come with all that they depend on, in its order; the rest are settings."""
    everything = False
    for item in items:
        if isinstance(item, Kept):
            everything = everything or item.names is None
            tangled = tangled | (item.names or frozenset())

    def stays(item: Setting | Kept) -> bool:
        return everything or isinstance(item, Kept) or item.key in tangled

    settings = tuple(item for item in items if isinstance(item, Setting) and not stays(item))
    return Host(settings, "".join(_written(item) for item in items if stays(item)), features)


def _written(item: Setting | Kept) -> str:
    """As it was: with other blanks, HTCondor may take a line for another."""
    return item.raw if isinstance(item, Kept) else item.line.raw
