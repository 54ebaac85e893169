"""A reference as one page of HTML, which loads nothing and works without its script."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from gitcfg.convert.reference.content import (
    FOLDERS,
    Code,
    Fact,
    Link,
    Ranking,
    Reference,
    Table,
    Text,
    anchor,
)
from gitcfg.model.text import safe
from gitcfg.pictures.picture import Picture

_MOST_EDGES = 500
"""The most edges of a picture in a page; a forge draws no more of them either."""
_MOST_TEXT = 1 << 19
"""The most characters of a drawing."""
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_ID = re.compile(r'(<g) id="[^"]*"')
_ANCHOR = re.compile(r"</?a\b[^>]*>\s*")
_TITLE = re.compile(r"<title>.*?</title>\s*", re.DOTALL)
_PARTS = {"text": Text, "code": Code, "link": Link, "fact": Fact, "ranking": Ranking, "table": Table}
Draw = Callable[[Picture], str | None]
"""A function that makes SVG of a picture; None if it cannot."""


def render_page(reference: Reference, draw: Draw) -> str:
    """Return the page. Pictures that cannot be drawn, or are too large, are replaced by text."""
    script = _read_asset("page.js")
    return _load_template().render(
        reference=reference,
        drawings=_draw_chapters(reference, draw),
        anchor=anchor,
        folders=FOLDERS,
        style=Markup(_read_asset("page.css")),
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


@cache
def _load_template() -> Template:
    found = Environment(
        loader=DictLoader({"page": _read_asset("page.html.j2")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"shown": safe, "lines": lambda text: [safe(line) for line in text.strip().splitlines()]}
    found.tests |= {name: _type_test(kind) for name, kind in _PARTS.items()}
    return found.get_template("page")


def _read_asset(name: str) -> str:
    return (files("gitcfg.convert.reference") / name).read_text(encoding="utf-8")


def _type_test(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


def _draw_chapters(reference: Reference, draw: Draw) -> Mapping[str, Markup]:
    """Return the pictures of chapters by kind, as far as they can be drawn."""
    found = {}
    for chapter in reference.chapters:
        if chapter.picture is not None and len(chapter.picture.edges) <= _MOST_EDGES:
            drawn = draw(chapter.picture)
            svg = _clean_svg(drawn) if drawn is not None else None
            if svg is not None:
                found[chapter.kind] = Markup(svg)
    return found


def _clean_svg(svg: str) -> str | None:
    """Return Graphviz's SVG without ids, links and titles, None if it is too large. dot escapes all text."""
    _, tag, rest = svg.partition("<svg")
    drawn = _TITLE.sub("", _ANCHOR.sub("", _ID.sub(r"\1", _COMMENT.sub("", tag + rest))))
    return drawn if tag and len(drawn) <= _MOST_TEXT else None
