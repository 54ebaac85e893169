"""References read back, as browsers and forges read them: texts, links and anchors."""

import posixpath
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.chapters import collect_reference
from gitcfg.convert.reference.content import Reference
from gitcfg.convert.reference.html import render_page
from gitcfg.convert.reference.markdown import render_markdown
from gitcfg.pictures.picture import Picture

ALLOWED = frozenset({"<code>", "</code>"})
VOID = frozenset({"meta", "input", "br", "link", "img", "hr"})
_TAGS = """
html head meta title style body header h1 h2 h3 h4 p nav label input details summary ul li a span main section
article dl div dt dd code table thead tbody tr th td ol script figure svg g polygon polyline path text ellipse
"""
TAGS = frozenset(_TAGS.split())


def of(fleet: Fleet) -> Reference:
    """The reference of a fleet."""
    return collect_reference(fleet, "Site", None)


def undrawn(picture: Picture) -> str | None:
    """There is no Graphviz."""
    return None


class Read(msgspec.Struct):
    """A file of Markdown as it shows: its text, the files that its links lead to, and HTML in it."""

    shown: str = ""
    links: list[str] = []
    html: list[str] = []
    fences: list[str] = []
    images: int = 0


def read_markdown(path: str, text: str) -> Read:
    """A file as forges show it."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    found = Read()
    for token in _tokens(parser.parse(text)):
        if token.type in ("text", "text_special", "code_inline"):
            found.shown += token.content
        elif token.type in ("html_inline", "html_block"):
            found.html.append(token.content)
        elif token.type == "fence":
            found.fences.append(token.info)
        elif token.type == "image":
            found.images += 1
        elif token.type == "link_open":
            found.links.append(_place(path, str(token.attrs["href"])))
    return found


def _tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or [])


def _place(path: str, target: str) -> str:
    """The file that a link leads to; one that leads elsewhere stays as it is."""
    if urlsplit(target).scheme or target.startswith("/"):
        return target
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))


def folder(fleet: Fleet) -> Mapping[str, str]:
    """The files of a fleet's reference."""
    return render_markdown(of(fleet))


class Page(HTMLParser):
    """A page: its ids, the anchors that it leads to, its text, and whether tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.text = ""
        self.scripts = 0
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        said = {name: value or "" for name, value in attrs}
        assert not [name for name in said if name.startswith("on") or name in ("src", "srcset", "xlink:href")]
        self.ids += [said["id"]] if "id" in said else []
        if "href" in said:
            assert said["href"].startswith("#"), said["href"]
            self.targets.append(said["href"][1:])
        self.scripts += tag == "script"
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if self._open[-1:] not in (["script"], ["style"]):
            self.text += data


def read_page(fleet: Fleet) -> Page:
    """A fleet's page, without pictures."""
    return Page(render_page(of(fleet), undrawn))
