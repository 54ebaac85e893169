"""Pieces of a reference as Markdown, in which whatever people wrote shows as it is."""

import re
from collections.abc import Callable, Iterable, Iterator

from gitcfg.convert.reference.content import Code, Line, Link, Piece, Text
from gitcfg.model.markdown import code, plain
from gitcfg.model.text import safe

Target = Callable[[Link], str]
"""Where a link leads, from the file that is being written."""

_STARTS = re.compile(r"^([-+=]|[0-9]+(?=[.)]))")
_BARE = re.compile(r"\b(www)\.", re.IGNORECASE)
_ODD = re.compile(r"[^A-Za-z0-9 ]")


def render_line(pieces: Line, target: Target) -> str:
    """A line of pieces."""
    return "".join(_render_piece(piece, target) for piece in pieces)


def escape_line(text: str) -> str:
    """A text of one line, in a table too: nothing in it is markup, a link or a list."""
    return _STARTS.sub(lambda found: _to_entities(found[0]), _escape(text.strip()))


def _escape(text: str) -> str:
    """A text in a line. A colon in front of a blank begins nothing, so it stays to be read."""
    shown = plain(text).replace("\\|", "&#124;").replace("\\: ", ": ")
    return _BARE.sub(r"\1&#46;", shown)


def render_paragraphs(text: str) -> Iterator[str]:
    """A description, line by line as it is written; blank lines part paragraphs."""
    lines = [escape_line(each) for each in text.strip().splitlines()]
    for number, each in enumerate(lines, 1):
        yield f"{each}\\" if each and any(lines[number : number + 1]) else each


def _render_piece(piece: Piece, target: Target) -> str:
    if isinstance(piece, Text):
        return _escape(piece.text)
    if isinstance(piece, Code):
        return render_code(piece.text)
    return f"[{render_code(piece.shown)}]({target(piece)})"


def render_code(text: str) -> str:
    """A text as code, in a table too, where a bar would end the cell: no escape of it works everywhere."""
    if text and text == text.strip() and "|" not in text:
        return code(text)
    return f"<code>{_to_entities(safe(text))}</code>"


def _to_entities(text: str) -> str:
    """A text of which every odd sign is an entity, which no Markdown takes for more."""
    return _ODD.sub(lambda found: f"&#{ord(found[0])};", text)


def render_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table of cells."""
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
