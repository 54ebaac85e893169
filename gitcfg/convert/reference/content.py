"""What a reference holds, before it is written in any language: chapters of entries that link."""

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
