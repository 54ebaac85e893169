"""A reference as a folder of Markdown: README.md, a folder for each kind, and in it a file for each entry."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from urllib.parse import quote

from gitcfg.convert.reference.content import (
    FOLDERS,
    INDEX,
    Branch,
    Chapter,
    Code,
    Entry,
    Fact,
    Line,
    Link,
    Part,
    Piece,
    Ranking,
    Reference,
    Text,
    assign_files,
)
from gitcfg.model.text import escape_markdown, markdown_block, markdown_code, safe
from gitcfg.pictures.mermaid import mermaid, too_large
from gitcfg.pictures.picture import Picture

_TOO_LARGE = "The picture is too large for this page: use `gitcfg graph` to draw all or a part of it."
_STARTS = re.compile(r"^([-+=]|[0-9]+(?=[.)]))")
_BARE = re.compile(r"\b(www)\.", re.IGNORECASE)
_ODD = re.compile(r"[^A-Za-z0-9 ]")
Target = Callable[[Link], str]
"""The target of a link, relative to the file that is written."""


def render_markdown(reference: Reference) -> Mapping[str, str]:
    """Return the files by path in the folder."""
    paths = assign_files(reference)
    files = {f"{INDEX}.md": list(_render_front(reference))}
    for chapter in reference.chapters:
        target = partial(_link_target, paths, FOLDERS[chapter.kind])
        files[f"{FOLDERS[chapter.kind]}/{INDEX}.md"] = list(_render_chapter(chapter, target))
        for entry in chapter.entries:
            files[paths[entry.kind, entry.name]] = list(_render_entry(entry, chapter, target))
    return {path: "".join(f"{each}\n" for each in lines) for path, lines in files.items()}


def _link_target(paths: Mapping[tuple[str, str], str], folder: str, link: Link) -> str:
    return quote(posixpath.relpath(paths[link.kind, link.name], folder), safe="/")


def _render_front(reference: Reference) -> Iterator[str]:
    yield f"# {escape_line(reference.title)}"
    yield ""
    commit = f", as of commit {render_code(reference.commit)}" if reference.commit else ""
    yield f"Generated from the repository{commit}."
    for note in reference.notes:
        yield from ("", escape_line(note))
    yield ""
    rows = (
        (f"[{each.title}]({FOLDERS[each.kind]}/{INDEX}.md)", str(len(each.entries)), each.about)
        for each in reference.chapters
    )
    yield from render_table(("chapter", "entries", "about"), rows)


def _render_chapter(chapter: Chapter, target: Target) -> Iterator[str]:
    yield from (f"# {chapter.title}", "", chapter.about, "")
    rows = (_render_row(entry, target) for entry in chapter.entries)
    yield from render_table((chapter.title.lower(), *chapter.head, "description"), rows)
    for part in chapter.parts:
        yield from _render_part(part, target)
    if chapter.picture is not None:
        yield from ("", "## Picture", "", *_render_picture(chapter.picture, chapter.tree, target))
    yield from ("", f"[All chapters](../{INDEX}.md)")


def _render_row(entry: Entry, target: Target) -> Iterator[str]:
    for each in ((Link(entry.kind, entry.name),), *entry.cells):
        yield render_line(each, target)
    yield escape_line(entry.description.strip().partition("\n")[0])


def _render_entry(entry: Entry, chapter: Chapter, target: Target) -> Iterator[str]:
    yield from (f"# {render_code(entry.name)}", "")
    if entry.description.strip():
        yield from (*render_paragraphs(entry.description), "")
    for part in entry.parts:
        if isinstance(part, Fact):
            yield _render_fact(part, target)
    for part in entry.parts:
        if not isinstance(part, Fact):
            yield from _render_part(part, target)
    if entry.picture is not None:
        yield from ("", *_render_picture(entry.picture, (), target))
    yield ""
    where = f" · defined in {render_code(entry.file)}" if entry.file else ""
    yield f"[{chapter.title}]({INDEX}.md) · [All chapters](../{INDEX}.md){where}"


def _render_fact(fact: Fact, target: Target) -> str:
    return f"- {fact.label}: {', '.join(render_line(item, target) for item in fact.items)}"


def _render_part(part: Part, target: Target) -> Iterator[str]:
    if isinstance(part, Fact):
        yield from ("", _render_fact(part, target))
        return
    yield from ("", f"## {part.label}", "")
    if isinstance(part, Ranking):
        for number, item in enumerate(part.items, 1):
            yield f"{number}. {render_line(item, target)}"
    else:
        yield from render_table(part.head, ((render_line(each, target) for each in row) for row in part.rows))


def _render_picture(picture: Picture, tree: tuple[Branch, ...], target: Target) -> Iterator[str]:
    """Yield the picture if a forge will draw it, otherwise the tree as text."""
    text = mermaid(picture)
    if not too_large(picture, text):
        yield from markdown_block(text.splitlines(), "mermaid")
        return
    yield _TOO_LARGE
    yield ""
    yield from _render_tree(tree, target, 0)


def _render_tree(branches: tuple[Branch, ...], target: Target, depth: int) -> Iterator[str]:
    for branch in branches:
        yield f"{'  ' * depth}- {render_line(branch.line, target)}"
        yield from _render_tree(branch.branches, target, depth + 1)


def render_line(pieces: Line, target: Target) -> str:
    """Return a line of pieces."""
    return "".join(_render_piece(piece, target) for piece in pieces)


def escape_line(text: str) -> str:
    """Escape a text of one line, for tables too: nothing in it is markup, a link or a list."""
    return _STARTS.sub(lambda found: _to_entities(found[0]), _escape(text.strip()))


def _escape(text: str) -> str:
    """Escape a text within a line. A colon before a blank needs no escape."""
    shown = escape_markdown(text).replace("\\|", "&#124;").replace("\\: ", ": ")
    return _BARE.sub(r"\1&#46;", shown)


def render_paragraphs(text: str) -> Iterator[str]:
    """Yield a description line by line; blank lines separate paragraphs."""
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
    """Return a text as code, for tables too: no escape of a bar in a cell works everywhere."""
    if text and text == text.strip() and "|" not in text:
        return markdown_code(text)
    return f"<code>{_to_entities(safe(text))}</code>"


def _to_entities(text: str) -> str:
    """Return a text with all special characters as entities, which are never markup."""
    return _ODD.sub(lambda found: f"&#{ord(found[0])};", text)


def render_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
