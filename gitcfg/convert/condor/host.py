"""What a host's configuration says: settings in order, and the lines that only HTCondor itself can read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from gitcfg.convert.condor.lines import Line
from gitcfg.convert.condor.sources import Source


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


class KeptLines(msgspec.Struct, frozen=True):
    """Lines that stay as they are, and the names that they read or set; None: that may be any."""

    raw: str
    names: frozenset[str] | None
    line: Line


class Relations(msgspec.Struct, frozen=True):
    """What annotations say of a feature."""

    includes: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()


class ReadFile(msgspec.Struct, frozen=True):
    """A file that was read, and those that `include` reads in it, by the number of its line."""

    source: Source
    included: dict[int, "ReadFile"]


def walk_files(read: Iterable[ReadFile]) -> Iterator[ReadFile]:
    """Yield files and, after each, those that it includes."""
    for one in read:
        yield one
        yield from walk_files(one.included.values())


class Host(msgspec.Struct, frozen=True):
    """One host: what became settings, the texts before and after them, and the features that it names."""

    settings: tuple[Setting, ...]
    before: str
    after: str
    features: Mapping[str, Relations]
    read: tuple[ReadFile, ...]


def arrange(
    items: Sequence[Setting | KeptLines],
    tangled: set[str],
    features: Mapping[str, Relations],
    read: tuple[ReadFile, ...],
) -> Host:
    """A host whose kept lines stand before its settings if nothing that they touch is set before them.

    Other kept lines stand after, with all that they touch, and keep their order. What follows lines that
    may touch anything is such a line, too.
    """
    first, tangled, end = _find_text_lines(items, tangled)

    def stays(at: int, item: Setting | KeptLines) -> bool:
        return at >= end or isinstance(item, KeptLines) or item.key in tangled

    rest = [(at, item) for at, item in enumerate(items) if at not in first]
    return Host(
        tuple(item for at, item in rest if isinstance(item, Setting) and not stays(at, item)),
        "".join(_text_of(items[at]) for at in sorted(first)),
        "".join(_text_of(item) for at, item in rest if stays(at, item)),
        features,
        read,
    )


def _find_text_lines(
    items: Sequence[Setting | KeptLines], tangled: set[str]
) -> tuple[set[int], set[str], int]:
    """Which lines stand before all settings, which names stay text, and from where on everything does."""
    first: set[int] = set()
    tangled, touched = set(tangled), set[str]()
    for at, item in enumerate(items):
        if isinstance(item, Setting):
            touched.add(item.key)
        elif not touched or (item.names is not None and item.names.isdisjoint(touched)):
            first.add(at)
        elif item.names is None:
            return first, tangled.union(*map(_names_of, items[at:])), at
        else:
            tangled |= item.names
            touched |= item.names
    return first, tangled, len(items)


def _names_of(item: Setting | KeptLines) -> frozenset[str]:
    return frozenset((item.key,)) if isinstance(item, Setting) else item.names or frozenset()


def _text_of(item: Setting | KeptLines) -> str:
    """As it was: with other blanks within, HTCondor may take a line for another."""
    return item.raw if isinstance(item, KeptLines) else item.line.tidy
