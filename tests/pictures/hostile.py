"""Texts that try to be more than texts, in every place of a picture where a repository's texts come."""

import json

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gitcfg.pictures.picture import Edge, Kind, Picture, Relation, Vertex, ident

HOSTILE = (
    "end",
    "default",
    "subgraph",
    'a"b',
    "back\\slash\\",
    '\\"]; evil [label="x',
    "\\N\\G\\L\\E\\T\\n\\l\\r",
    "C:\\new\\Nodes\\",
    "&lt;b&gt; &amp; &#92;N &quot;",
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    '"><a href="javascript:alert(1)">x</a>',
    "-->x<!--",
    "]]>",
    "<b>html</b>",
    'x"] --> y["z',
    "#quot;#35;",
    "`code` **bold** _it_",
    "1. list",
    "- list",
    "%%{init: {'theme': 'dark'}}%%",
    "%% comment",
    "fa:fa-car",
    "style:#fff;",
    "click a call b()",
    "a;b|c{d}e(f)g[h]",
    "$$x^2$$",
    "line\nbreak\r\ttab",
    "\u202eright to left\u200b\u2028",
    "\x00\x1b[31m",
    "日本 ☃ é",
    "$(id) `id` ${HOME}",
    "",
    " ",
)


def hostile_texts() -> SearchStrategy[str]:
    """Texts of signs that mean something somewhere, and any others."""
    signs = st.sampled_from("\"\\<>&;#{}[]()|'`%$*_~-+=:,./@ \n\r\tANnlrGLTE0159é☃")
    return st.text(signs | st.characters(), max_size=40)


def repository_of(text: str) -> dict[str, str]:
    """A repository that says a text wherever it takes one, as a name that nothing has, too."""
    said = json.dumps(text)
    return {
        "features/A.yaml": f"description: {said}\ninclude: [B, {said}]\nconflicts: [{said}]\n",
        "features/B.yaml": f"depends: [{said}]\nafter: [{said}]\n",
        "features/C.yaml": f"include: [{{feature: A, as: {said}}}]\n",
        "groups/default.yaml": f"description: {said}\nfeatures: [A, {said}]\n",
        "nodes/n.yaml": f"description: {said}\ngroups: [{said}]\nfeatures: [C, {said}]\nwithout: [{said}]\n",
        "overrides/o.yaml": f"nodes: n\nreason: {said}\nuntil: 2030-01-01\nfeatures: [{said}]\n",
    }


def picture_of(text: str) -> Picture:
    """A picture whose every text is the one given, or, where texts are short, begins as it does."""
    start = text[:200]
    one, two = ident("feature", text), ident("group", text)
    return Picture(
        "features",
        start,
        (
            Vertex(
                id=one,
                kind=Kind.FEATURE,
                name=text,
                lines=("x",),
                about=f"{text}\n{text}",
                folder=start or "f",
            ),
            Vertex(id=two, kind=Kind.FEATURES, name=text, lines=("x",), about=text, unused=True),
        ),
        (Edge(Relation.INCLUDES, one, two, text), Edge(Relation.CONFLICTS, two, one, text)),
        (start,),
    )
