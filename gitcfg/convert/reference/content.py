"""The contents of a reference, independent of its format: chapters of entries with links, and their paths."""

import hashlib
import re
from collections.abc import Mapping

import msgspec

from gitcfg.pictures.picture import Picture

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


class Text(msgspec.Struct, frozen=True):
    """Plain text."""

    text: str


class Code(msgspec.Struct, frozen=True):
    """A name, a value or a path, unchanged."""

    text: str


class Link(msgspec.Struct, frozen=True):
    """A link to the entry of a definition; `text` is shown instead of its name if not empty."""

    kind: str
    name: str
    text: str = ""

    @property
    def shown(self) -> str:
        """The text that is shown."""
        return self.text or self.name


Piece = Text | Code | Link
Line = tuple[Piece, ...]


class Fact(msgspec.Struct, frozen=True):
    """A fact about a definition: one item, or several in no order."""

    label: str
    items: tuple[Line, ...]


class Ranking(msgspec.Struct, frozen=True):
    """Items in order of priority, highest first."""

    label: str
    items: tuple[Line, ...]


class Table(msgspec.Struct, frozen=True):
    """Rows of cells under a head."""

    label: str
    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


Part = Fact | Ranking | Table


class Entry(msgspec.Struct, frozen=True):
    """A definition.

    `file` is the file that defines it, "" if there is none; `cells` are its row in the table.
    """

    kind: str
    name: str
    description: str
    file: str
    cells: tuple[Line, ...]
    parts: tuple[Part, ...]
    picture: Picture | None = None


class Branch(msgspec.Struct, frozen=True):
    """A node of a tree: its line, and the branches below it."""

    line: Line
    branches: tuple["Branch", ...] = ()


class Chapter(msgspec.Struct, frozen=True):
    """All definitions of a kind, in order of name.

    `head` are the heads of the cells between name and description. `tree` is a text for the picture where
    that cannot be drawn.
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
    """A whole reference. `commit` is the one that was requested; `notes` say what is missing, and why."""

    title: str
    commit: str | None
    chapters: tuple[Chapter, ...]
    notes: tuple[str, ...] = ()


def assign_files(reference: Reference) -> dict[tuple[str, str], str]:
    """Return the path of each entry's file by kind and name; no two differ only in case."""
    files: dict[tuple[str, str], str] = {}
    for chapter in reference.chapters:
        taken = {INDEX.casefold()}
        for name in sorted(entry.name for entry in chapter.entries):
            stem = safe_name(name)
            while stem.casefold() in taken:
                stem += "~"
            taken.add(stem.casefold())
            files[chapter.kind, name] = f"{FOLDERS[chapter.kind]}/{stem}.md"
    return files


def safe_name(name: str) -> str:
    """Return a unique name that any file system accepts, with odd characters as `~` and their codes."""
    text = _escape(name, _ODD)
    text = f"~2e{text[1:]}" if text.startswith(".") else text
    text = f"{text[:-1]}~20" if text.endswith(" ") else text
    return text if len(text) <= _LONGEST else f"{text[:60]}~{hashlib.sha256(_bytes(name)).hexdigest()[:16]}"


def anchor(link: Link) -> str:
    """Return the id of an entry in the page that holds all of them."""
    return f"{link.kind}-{_escape(link.name, _ODD_IN_ANCHOR)}"


def _escape(name: str, odd: re.Pattern[str]) -> str:
    return odd.sub(lambda found: "".join(f"~{byte:02x}" for byte in _bytes(found[0])), name)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
