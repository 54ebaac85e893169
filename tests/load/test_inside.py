"""A character of a scalar's value is found in its YAML, in whatever style that is written."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.git.tree import DictTree, Entry
from gitcfg.load.document import ScalarPlaces, find_in_scalar, parse
from gitcfg.model import Origin, Ref

CASES = {
    "plain": 'where: node.nam@e == "x"\n',
    "plain in lines": 'where: node.name == "x" &&\n\n  node.n@am == "y"\n',
    "single quotes": "where: 'it''s && node.n@am'\n",
    "a quote itself": "where: 'it@''s'\n",
    "single quotes in lines": "where: '\"a\" in node.labels\n  && ''n''   \n     in node.l@ables'\n",
    "double quotes": 'where: "\\"a\\" in node.l@ables"\n',
    "codes": 'where: "\\x41\\u00e4\\U0001F600\\t@b"\n',
    "an escape itself": 'where: "ab@\\"c"\n',
    "an escaped line end": 'where: "node.\\\n    n@am"\n',
    "double quotes in lines": 'where: "a  \n  b\n\n\n  c@d"\n',
    "literal": 'where: |\n  node.name == "x" &&\n  node.n@am == "y"\n',
    "literal, further": "where: |-2 # why\n    a\n\n   b@c\nreason: r\n",
    "literal with empty lines before": "where: |+\n\n\n   a\n    @b\n\n\n",
    "folded": 'where: >\n  node.name == "x" &&\n  node.n@am == "y"\nreason: r\n',
    "folded, further": "where: >-\n  a\n   b\n\n   c\n  d\n\n\n  e\n  @f",
    "windows": 'where: >\r\n  a\r\n  b@c\r\nother: "x"\r\n',
    "windows, quoted": 'where: "a\r\n  b@c"\r\n',
    "in a list in braces": 'all: {where: [1, {a: "b@c"}]}\n',
    "under a key": "rules:\n  r:\n    where: >-\n      ab\n      c@d\n  s: 1\n",
    "with a tab": 'where: "a\tb@c"\n',
}


def scalar(document: str) -> Ref:
    """The last scalar of a document that is text."""
    parsed = parse("f.yaml", document.encode())
    assert not parsed.findings
    path: list[str | int] = []
    found = parsed.value
    while not isinstance(found, str):
        step = len(found) - 1 if isinstance(found, list) else _step(found)
        path.append(step)
        found = found[step]
    return Ref(found, parsed.at(*path))


def _step(found: dict[str, object]) -> str:
    return next((key for key in ("all", "rules", "r", "where", "a") if key in found), "")


def inside(document: str, scalar: Ref, line: int, column: int) -> Origin:
    return find_in_scalar(DictTree({scalar.origin.file: document}), scalar, line, column)


def place(value: str, index: int) -> tuple[int, int]:
    before = value[:index]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    """The sign @ stands before the character that is looked for, and is not there."""
    document = CASES[name]
    line, column = place(document, document.index("@"))
    found = scalar(document.replace("@", ""))
    wanted = scalar(document).name.index("@")
    assert inside(document.replace("@", ""), found, *place(found.name, wanted)) == Origin(
        "f.yaml", line, column
    )


TEXTS = st.text("ab.=&\"'\\ \n|>#:-äé\u00a0😀\t", min_size=1, max_size=60)


@given(TEXTS, st.sampled_from(["'", '"', "|", ">", None]), st.integers(10, 40), st.booleans())
def test_every_character_is_found(value: str, style: str | None, width: int, unicode: bool) -> None:
    document = _written(value, style, width, unicode)
    parsed = parse("f.yaml", document.encode())
    assert parsed.get("k", "where") == value
    found = Ref(value, parsed.at("k", "where"))
    lines, before = document.split("\n"), (0, 0)
    for index, character in enumerate(value):
        at = inside(document, found, *place(value, index))
        there = lines[at.line - 1][at.column - 1 :]
        assert (at.line, at.column) >= before
        if character not in " \n":
            assert there.startswith((character, "\\")), (document, index)
            assert (at.line, at.column) > before
        before = (at.line, at.column)
    end = inside(document, found, *place(value, len(value)))
    assert (end.line, end.column) > before or value.endswith("\n")


def _written(value: str, style: str | None, width: int, unicode: bool) -> str:
    node = yaml.ScalarNode("tag:yaml.org,2002:str", value, style=style)
    key, outer = (yaml.ScalarNode("tag:yaml.org,2002:str", name) for name in ("where", "k"))
    inner = yaml.MappingNode("tag:yaml.org,2002:map", [(key, node)], flow_style=False)
    root = yaml.MappingNode("tag:yaml.org,2002:map", [(outer, inner)], flow_style=False)
    return str(yaml.serialize(root, width=width, allow_unicode=unicode))


@pytest.mark.parametrize(
    "document",
    [
        "where: other\n",
        "where: 'abd'\n",
        "where: |\n  ab\n  c\n",
        'where: "ab\\U99999999"\n',
        "",
        "where: abc\u2028\n",
        "where: a\rb\n",
    ],
)
def test_where_it_cannot_be_known_it_is_the_scalar(document: str) -> None:
    own = Origin("f.yaml", 1, 8)
    assert inside(document, Ref("abc", own), 1, 3) == own


def test_beyond_a_line_is_its_end() -> None:
    found = Ref("abc", Origin("f.yaml", 1, 8))
    assert inside("where: abc\n", found, 1, 99) == Origin("f.yaml", 1, 11)
    assert inside("where: abc\n", found, 9, 1) == Origin("f.yaml", 1, 11)


def test_it_is_read_from_the_tree() -> None:
    tree = DictTree({"holds/a.yaml": "\ufeffwhere: abc\n", "holds/b.yaml": b"where: \xff"})
    for name, column in (("a", 9), ("b", 8), ("c", 8)):
        own = Origin(f"holds/{name}.yaml", 1, 8)
        assert find_in_scalar(tree, Ref("abc", own), 1, 2) == Origin(own.file, 1, column)


def test_a_file_is_read_once_however_many_places_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: |\n  one\n  two\nb: 'x && y'\n"
    tree = DictTree({"f.yaml": text})
    read: list[str] = []
    real = tree.read

    def counted(entry: Entry) -> bytes:
        read.append(entry.path)
        return real(entry)

    monkeypatch.setattr(tree, "read", counted)
    places = ScalarPlaces(tree)
    assert places.find(Ref("one\ntwo\n", Origin("f.yaml", 1, 4)), 2, 2) == Origin("f.yaml", 3, 4)
    assert places.find(Ref("x && y", Origin("f.yaml", 4, 4)), 1, 6) == Origin("f.yaml", 4, 10)
    assert read == ["f.yaml"]
