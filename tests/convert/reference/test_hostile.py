"""Whatever people write shows as it is, and is neither markup, nor a link, nor a program."""

import json
from shutil import which

import pytest
from hypothesis import given

from gitcfg.cli.graph import svg
from gitcfg.convert.reference.content import Code, Link, Text, anchor, safe_name
from gitcfg.convert.reference.html import render_page
from gitcfg.convert.reference.markdown import escape_line, render_line, render_paragraphs, render_table
from gitcfg.model.text import safe
from gitcfg.pictures.dot import dot
from gitcfg.pictures.picture import Picture
from tests.convert.reference.reading import ALLOWED, Page, folder, of, read_markdown, read_page
from tests.pictures.fleets import fleet
from tests.pictures.hostile import HOSTILE, hostile_texts, repository_of
from tests.properties.runs import QUICK

MORE = (
    *HOSTILE,
    "[click](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "<http://example.org>",
    "www.example.org and http://example.org",
    "| a | b |",
    "a\\|b",
    "\\",
    "``a`b```",
    " spaces ",
    "# heading",
    "===",
    "---",
    "1) one",
    "+ plus",
    "~~~",
    "[a]: http://example.org",
    "{{ 7 * 7 }}{% raw %}",
    "README",
    "..",
    "a" * 300,
    "\ud800",
)


def repository(text: str) -> dict[str, str]:
    """A repository that says a text wherever it takes one."""
    said = json.dumps(text)
    files = repository_of(text)
    files["parameters/p.yaml"] = (
        f"parameters:\n  P: {{description: {said}, default: {said}, tags: [{said}], depends: [{said}]}}\n"
    )
    files["subsystems/s.yaml"] = (
        f"subsystems:\n  s: {{description: {said}, params: [{said}], files: [{said}], restart: [{said}]}}\n"
    )
    files["groups/more.yaml"] = (
        f"params: {{P: {said}, {said}: 1, Q: [{said}]}}\nfiles: {{{said}: {{template: {said}}}}}\n"
    )
    files["nodesets/n.yaml"] = f"nodes: m[1-3]\ndescription: {said}\nlabels: [{said}]\ngroups: [more]\n"
    return files


def drawn(picture: Picture) -> str:
    return svg(dot(picture))


def stays_text_in_the_folder(text: str) -> None:
    files = folder(fleet(repository(text)))
    for path, content in files.items():
        found = read_markdown(path, content)
        assert set(found.html) <= ALLOWED, path
        assert set(found.links) <= set(files), path
        assert set(found.fences) <= {"mermaid"}
        assert not found.images
    if "parameters/P.md" in files and len(text.splitlines()) == 1:  # not all texts can be in YAML
        assert safe(text.strip()) in read_markdown("parameters/P.md", files["parameters/P.md"]).shown


def stays_text_in_the_page(text: str) -> None:
    made = fleet(repository(text))
    found = read_page(made)
    assert set(found.targets) == set(found.ids)
    assert found.scripts == 1
    if "P" in made.model.parameters and len(text.splitlines()) == 1:
        assert safe(text.strip()) in found.text


@pytest.mark.slow
@pytest.mark.parametrize("text", MORE, ids=range(len(MORE)))
def test_of_a_list(text: str) -> None:
    stays_text_in_the_folder(text)
    stays_text_in_the_page(text)


@QUICK
@given(hostile_texts())
def test_of_any_text_in_the_folder(text: str) -> None:
    stays_text_in_the_folder(text)


@QUICK
@given(hostile_texts())
def test_of_any_text_in_the_page(text: str) -> None:
    stays_text_in_the_page(text)


@pytest.mark.skipif(which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><a href="javascript:x">', "-->x<!--", "&lt;b&gt;"]
)
def test_drawings_hold_no_more_than_signs(text: str) -> None:
    found = Page(render_page(of(fleet(repository(text))), drawn))
    assert found.scripts == 1
    assert len(found.ids) == len(set(found.ids))


@given(hostile_texts())
def test_a_line_shows_what_it_says(text: str) -> None:
    pieces = (Text("a "), Code(text), Text(" b"), Text(text.replace("\n", " ")), Text("c"))
    rows = "\n".join(render_table(("x", "y"), [(render_line(pieces, lambda link: "x"), "z")]))
    found = read_markdown("x.md", rows)
    assert set(found.html) <= ALLOWED
    assert found.shown == f"xya {safe(text)} b{safe(text.replace(chr(10), ' '))}cz"


@given(hostile_texts())
def test_a_description_shows_what_it_says(text: str) -> None:
    found = read_markdown("x.md", "\n".join(render_paragraphs(text)))
    assert (found.html, found.links, found.fences) == ([], [], [])
    assert found.shown == "".join(safe(each.strip()) for each in text.strip().splitlines())


@given(hostile_texts(), hostile_texts())
def test_no_two_names_share_a_place(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) == (one == other)
    assert (anchor(Link("feature", one)) == anchor(Link("feature", other))) == (one == other)
    for name in (safe_name(one), anchor(Link("feature", one))):
        assert "/" not in name
        assert name.isascii()
        assert name.isprintable()
        assert len(name) <= 3 * len(one) * 4 + 20


def test_bare_links_are_broken() -> None:
    assert escape_line("see www.example.org") == "see www&#46;example.org"
    assert "http\\://" in escape_line("see http://example.org")
