"""What a reference holds, before it is written in any language: chapters of entries that link."""

import hashlib
import re
from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.pictures.picture import Picture


class Text(msgspec.Struct, frozen=True):
    """Words."""

    text: str


class Code(msgspec.Struct, frozen=True):
    """A name, a value or a path, as it is written."""

    text: str


class Link(msgspec.Struct, frozen=True):
    """A definition that has an entry; `text` is how it is called where that is not its name."""

    kind: str
    name: str
    text: str = ""

    @property
    def shown(self) -> str:
        """What is to be read."""
        return self.text or self.name


Piece = Text | Code | Link
Line = tuple[Piece, ...]


class Fact(msgspec.Struct, frozen=True):
    """Something that is said of a definition: one thing, or several in no order that matters."""

    label: str
    items: tuple[Line, ...]


class Ranking(msgspec.Struct, frozen=True):
    """Things in priority order, highest first."""

    label: str
    items: tuple[Line, ...]


class Table(msgspec.Struct, frozen=True):
    """Rows of cells under a head."""

    label: str
    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


Part = Fact | Ranking | Table


class Entry(msgspec.Struct, frozen=True):
    """One definition. `file` is where it stands, "" if nowhere; `cells` are its row of figures."""

    kind: str
    name: str
    description: str
    file: str
    cells: tuple[Line, ...]
    parts: tuple[Part, ...]
    picture: Picture | None = None


class Branch(msgspec.Struct, frozen=True):
    """A place in a tree: what stands there, and what hangs from it."""

    line: Line
    branches: tuple["Branch", ...] = ()


class Chapter(msgspec.Struct, frozen=True):
    """All definitions of a kind, in order of name.

    `head` are the names of the cells behind the first and before the last, which are name and description.
    `tree` says in words what the picture shows, where there is no drawing it.
    """

    kind: str
    title: str
    about: str
    head: tuple[str, ...]
    entries: tuple[Entry, ...]
    picture: Picture | None = None
    tree: tuple[Branch, ...] = ()
    parts: tuple[Part, ...] = ()


class Reference(msgspec.Struct, frozen=True):
    """The whole. `commit` is the one that was asked for; `notes` say what is missing, and why."""

    title: str
    commit: str | None
    chapters: tuple[Chapter, ...]
    notes: tuple[str, ...] = ()


# Where entries stand: the names of their files and anchors, safe whatever the names are.

FOLDERS: Mapping[str, str] = {
    "feature": "features",
    "group": "groups",
    "parameter": "parameters",
    "subsystem": "subsystems",
    "nodeset": "nodesets",
    "override": "overrides",
    "rule": "rules",
}
"""The folder of each kind."""

INDEX = "README"
_LONGEST = 100
_ODD = re.compile(r"[^A-Za-z0-9_.+@ -]")
_ODD_IN_ANCHOR = re.compile(r"[^A-Za-z0-9_.-]")


class Places(msgspec.Struct, frozen=True):
    """The file of every entry, by kind and name, without its ending."""

    stems: Mapping[tuple[str, str], str]

    def file(self, kind: str, name: str) -> str:
        """An entry's file, from the top of the folder on."""
        return f"{FOLDERS[kind]}/{self.stems[kind, name]}.md"


def assign_places(reference: Reference) -> Places:
    """A file for every entry: also where upper and lower case are one no two are the same."""
    stems: dict[tuple[str, str], str] = {}
    for chapter in reference.chapters:
        taken = {INDEX.casefold()}
        for name in sorted(entry.name for entry in chapter.entries):
            stems[chapter.kind, name] = _free_stem(safe_name(name), taken)
    return Places(stems)


def _free_stem(stem: str, taken: set[str]) -> str:
    while stem.casefold() in taken:
        stem += "~"
    taken.add(stem.casefold())
    return stem


def safe_name(name: str) -> str:
    """A name that any file system takes; what is odd in it as `~` and its code, and no two names alike."""
    text = _escape(name, _ODD)
    text = f"~2e{text[1:]}" if text.startswith(".") else text
    text = f"{text[:-1]}~20" if text.endswith(" ") else text
    return text if len(text) <= _LONGEST else f"{text[:60]}~{_digest(name)}"


def anchor(link: Link) -> str:
    """The id of an entry in a page that holds all of them."""
    return f"{link.kind}-{_escape(link.name, _ODD_IN_ANCHOR)}"


def _escape(name: str, odd: re.Pattern[str]) -> str:
    return odd.sub(lambda found: "".join(f"~{byte:02x}" for byte in _bytes(found[0])), name)


def _bytes(text: str) -> Iterable[int]:
    return text.encode("utf-8", "surrogatepass")


def _digest(name: str) -> str:
    return hashlib.sha256(bytes(_bytes(name))).hexdigest()[:16]
