"""SVG as Graphviz writes it, made fit to stand in a page with others: no ids, no links, nothing to load."""

import re

from gitcfg.pictures.picture import Picture

_MOST_EDGES = 500
"""Lines that a picture may have to be of any use in a page; a forge draws no more of them either."""
_MOST_TEXT = 1 << 19
"""Characters of a drawing."""

_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_ID = re.compile(r'(<g) id="[^"]*"')
_ANCHOR = re.compile(r"</?a\b[^>]*>\s*")
_TITLE = re.compile(r"<title>.*?</title>\s*", re.DOTALL)


def is_drawable(picture: Picture) -> bool:
    """Is a picture small enough to be drawn?"""
    return len(picture.edges) <= _MOST_EDGES


def clean_svg(svg: str) -> str | None:
    """The drawing alone; None if it is too large to stand in a page. dot escapes whatever it is given."""
    _, tag, rest = svg.partition("<svg")
    drawn = _TITLE.sub("", _ANCHOR.sub("", _ID.sub(r"\1", _COMMENT.sub("", tag + rest))))
    return drawn if tag and len(drawn) <= _MOST_TEXT else None
