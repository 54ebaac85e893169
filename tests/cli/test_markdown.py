"""Markdown for a pull request: what a repository says stays text, whatever it holds."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import gitcfg
from gitcfg.cli.changes import markdown_lines
from gitcfg.model.text import escape_markdown, markdown_block, markdown_code, safe
from tests.properties.runs import QUICK

HOSTILE = st.text("`~*_<>[]()!@#&|\\- \n\t$ax0:/", max_size=30)
PARSER = MarkdownIt("commonmark").enable("table")


class Seen(HTMLParser):
    """The tags and the text of what a forge shows."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(markdown: str) -> Seen:
    page = Seen()
    page.feed(PARSER.render(markdown))
    return page


@QUICK
@given(text=HOSTILE)
def test_inline_code_is_the_text(text: str) -> None:
    page = seen(f"a {markdown_code(text)} b")
    assert "<" not in text or page.tags == ["p", "code"]
    if text.strip():
        assert page.text.strip("\n") == f"a {safe(text)} b"


@QUICK
@given(text=HOSTILE)
def test_plain_text_is_the_text(text: str) -> None:
    page = seen(f"a{escape_markdown(text)}b")
    assert page.tags == ["p"]
    assert page.text.strip("\n") == f"a{safe(text)}b"


@QUICK
@given(lines=st.lists(HOSTILE.map(safe), max_size=4))
def test_a_fence_holds_its_lines(lines: list[str]) -> None:
    page = seen("\n".join([*markdown_block(lines, "diff"), "after"]))
    assert page.tags == ["pre", "code", "p"]
    assert page.text.strip("\n").removesuffix("after").strip("\n") == "\n".join(lines).strip("\n")


@pytest.mark.parametrize("value", ["```", "<script>", "</details>", "@everyone", "a\n\n# b", "\x1b[31m"])
def test_values_add_no_markup(value: str) -> None:
    base = {"gitcfg.yaml": "format: 1\nundeclared: allow\n", "nodes/n.yaml": "description: n\n"}
    said = repr(value).replace("'", '"')
    changed = base | {"nodes/n.yaml": f"params: {{X: {said}}}\n"}
    with gitcfg.in_memory(base) as old, gitcfg.in_memory(changed) as new:
        lines = list(markdown_lines(gitcfg.compare(old, new), files=True))
    page = seen("\n".join(lines))
    assert page.tags == ["h3", "details", "summary", "b", "code", "pre", "code"]
    assert f"+ X = {safe(value)}" in page.text


def test_names_add_no_markup() -> None:
    base = {"gitcfg.yaml": "format: 1\n", "features/_a_.yaml": "{}\n", "nodes/n.yaml": "description: n\n"}
    changed = base | {"nodes/n.yaml": "features: [_a_]\n"}
    with gitcfg.in_memory(base) as old, gitcfg.in_memory(changed) as new:
        lines = list(markdown_lines(gitcfg.compare(old, new), files=True))
    page = seen("\n".join(lines))
    assert "em" not in page.tags
    assert "Features: +_a_" in page.text
