"""The configuration of a host: its settings, annotations, and the lines that stay text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from gitcfg.compile.classad import Macro, find_macros
from gitcfg.convert.condor.sources import Source, import_error
from gitcfg.convert.condor.syntax import Line
from gitcfg.model.names import NAME

SETTINGS = "/etc/condor/config.d/50-gitcfg.config"
BEFORE = "/etc/condor/config.d/40-imported.config"
AFTER = "/etc/condor/config.d/60-imported.config"
"""The files that a node gets: its settings, and text that HTCondor reads before and after the settings."""
MAX_VALUE = 64 << 10


class Setting(msgspec.Struct, frozen=True):
    """NAME = VALUE in a feature (empty: in none).

    `default` marks the value as the parameter's default; `about` is the description in the comment above.
    """

    name: str
    value: str
    feature: str
    default: bool
    line: Line
    about: str = ""

    @property
    def key(self) -> str:
        """The name in lower case: HTCondor's names compare without case."""
        return self.name.lower()


class KeptLines(msgspec.Struct, frozen=True):
    """Lines that stay text, and the names that they read or set (None: possibly any)."""

    raw: str
    names: frozenset[str] | None
    line: Line


class Relations(msgspec.Struct, frozen=True):
    """The features that annotations let a feature include and depend on."""

    includes: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()


class ReadFile(msgspec.Struct, frozen=True):
    """A file that was read, and the files that it includes by the line numbers of their `include`."""

    source: Source
    included: dict[int, "ReadFile"]


class Host(msgspec.Struct, frozen=True):
    """A host: its settings, the texts before and after them, the features that it names, and its files."""

    settings: tuple[Setting, ...]
    before: str
    after: str
    features: Mapping[str, Relations]
    read: tuple[ReadFile, ...]


class Addition(msgspec.Struct, frozen=True):
    """The effect of a setting: it sets a whole value, or adds text before or after the old one."""

    before: str | None
    after: str | None
    whole: str


class Annotations:
    """The annotations so far: comments that begin with `gitcfg:`.

    `feature` is the one that settings belong to now (empty: none), `features` are all that were named;
    `default` means that the next setting is a parameter's default.
    """

    def __init__(self) -> None:
        self.feature = ""
        self.default = False
        self.features: dict[str, Relations] = {}

    def apply(self, text: str) -> bool:
        """Apply an annotation. Return whether it is a valid one."""
        word, _, rest = text.partition(" ")
        names = tuple(name for name in (part.strip() for part in rest.split(",")) if name)
        if not all(map(NAME.fullmatch, names)):
            return False
        match word:
            case "default" if not names:
                self.default = True
            case "feature" if len(names) <= 1:
                self.feature = "".join(names)
                if names:
                    self.features.setdefault(self.feature, Relations())
            case "includes" | "depends" if self.feature and names:
                known = self.features[self.feature]
                all_names = (*getattr(known, word), *names)
                self.features[self.feature] = msgspec.structs.replace(known, **{word: all_names})
            case _:
                return False
        return True

    def for_knob(self) -> "Annotations":
        """Return annotations for the lines of a knob: they belong to the feature in which it is used."""
        result = Annotations()
        result.feature = self.feature
        return result


def walk_files(read: Iterable[ReadFile]) -> Iterator[ReadFile]:
    """Yield files and, after each, the files that it includes."""
    for one in read:
        yield one
        yield from walk_files(one.included.values())


def arrange(
    items: Sequence[Setting | KeptLines],
    tangled: set[str],
    features: Mapping[str, Relations],
    read: tuple[ReadFile, ...],
) -> Host:
    """Return the host of some settings and kept lines in the order of its files.

    Kept lines go before the settings if nothing that they touch is set before them. Other kept lines go
    after, with all settings that they touch, in their order; so does all that follows lines that may touch
    any name. Settings in `tangled` stay text.
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
    """Return the lines that go before all settings, the names that stay text, and where all becomes text."""
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
    """Return the text unchanged: HTCondor may read a line differently if its blanks change."""
    return item.raw if isinstance(item, KeptLines) else item.line.tidy


# Settings that refer to themselves: HTCondor replaces the reference at once by the old value.


def find_own_macros(name: str, value: str) -> list[Macro]:
    """Return the macros in a value that refer to the setting itself."""
    if "$" not in value:
        return []
    key = name.lower()
    return [macro for macro in find_macros(value) if macro.function == "$" and macro.body.lower() == key]


def apply_value(name: str, value: str, before: str | None, line: Line) -> str:
    """Return the value after a setting. A reference to HTCondor's own default stays a macro.

    Raise GitcfgError if the value grows too large.
    """
    own = find_own_macros(name, value) if before is not None else []
    if len(value) + len(own) * len(before or "") > MAX_VALUE:
        raise import_error(
            line.file, line.number, f"The value of {name} grows to more than {MAX_VALUE} characters."
        )
    parts, at = [], 0
    for macro in own:
        parts += [value[at : macro.start], before or macro.default]
        at = macro.end
    return "".join([*parts, value[at:]])


def split_addition(name: str, value: str) -> Addition:
    """Return what a setting of the form `$(NAME) more` or `more $(NAME)` adds; of others the whole value."""
    own = find_own_macros(name, value)
    if len(own) == 1 and not own[0].default:
        if own[0].start == 0 and value[own[0].end :]:
            return Addition(None, value[own[0].end :], value)
        if own[0].end == len(value) and value[: own[0].start]:
            return Addition(value[: own[0].start], None, value)
    return Addition(None, None, value)
