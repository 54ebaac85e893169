"""The documentation is true: its links lead somewhere, its transcripts print what they show."""

import re
import runpy
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from tests.transcripts import Command, commands, matches, run, transcripts

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TRANSCRIPTS = [
    page for page in (ROOT / "README.md", *PAGES) if next(transcripts(page.read_text(encoding="utf-8")), None)
]

_BLOCK = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+).+?\1")
_LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_HTML = re.compile(r"<[a-zA-Z/][^>]*>")


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(prose(page)))
    return {text.strip().replace(" ", "-") for text in words}


def broken(page: Path) -> Iterator[str]:
    """The links of a page that lead nowhere, those out into the world aside."""
    for target in _LINK.findall(_CODE.sub("", prose(page))):
        path, _, anchor = target.partition("#")
        place = page.parent / path if path else page
        if "://" in target:
            continue
        if not place.exists() or (anchor and anchor not in anchors(place)):
            yield target


def test_there_are_pages_with_transcripts() -> None:
    assert {page.name for page in TRANSCRIPTS} >= {"tasks.md", "format.md", "from-wallaby.md"}


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_plain_markdown(page: Path) -> None:
    """What looks like HTML is taken for it by some forges, and then nobody sees it."""
    assert _HTML.findall(_CODE.sub("", prose(page))) == []


def test_the_index_names_every_page() -> None:
    named = set(_LINK.findall((DOCS / "README.md").read_text(encoding="utf-8")))
    assert [page.name for page in PAGES if page.name not in {*named, "README.md"}] == []


def test_the_page_of_findings_is_current() -> None:
    made = runpy.run_path(str(DOCS / "findings.py"))["findings"]()
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == made, "`make docs` makes it anew."


@pytest.mark.parametrize("name", ["check", "diff", "explain"])
def test_pictures_are_current(name: str) -> None:
    made = runpy.run_path(str(DOCS / "pictures.py"))
    fresh = made["drawn"](name, made["PICTURES"][name])
    assert (DOCS / f"pictures/{name}.svg").read_text(encoding="utf-8") == fresh, "`make pictures`."


@pytest.mark.skipif(which("dot") is None, reason="Graphviz is not installed")
def test_the_picture_of_groups_is_current() -> None:
    """Graphviz's versions place things differently, so only what it says is compared."""
    fresh = runpy.run_path(str(DOCS / "pictures.py"))["groups"]()
    words = re.compile(r">([^<>]+)</text>")
    kept = (DOCS / "pictures/groups.svg").read_text(encoding="utf-8")
    assert sorted(words.findall(kept)) == sorted(words.findall(fresh)), "`make pictures`."


@pytest.mark.slow
@pytest.mark.skipif(find_spec("htcondor2") is None, reason="without HTCondor's parser `check` says so, too")
@pytest.mark.parametrize("page", TRANSCRIPTS, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    run(page, tmp_path)


def test_a_transcript_is_read() -> None:
    text = "A\n```console\n$ a \\\n  b\none\n\n$ cat > x <<'EOF'\n$ y\nEOF\n$ c\n```\n```sh\nd\n```\n"
    (block,) = transcripts(text)
    assert list(commands(block["body"], 3)) == [
        Command(3, "a \\\n  b", "one\n\n"),
        Command(7, "cat > x <<'EOF'\n$ y\nEOF", ""),
        Command(10, "c", ""),
    ]


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("expected", "printed", "fits"),
    [
        ("one\n", "one\n", True),
        ("one\n", "two\n", False),
        ("one\n", "one\ntwo\n", False),
        ("", "one\n", False),
        ("one\n...\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n...\nfour\n", "one\nfour\n", True),
        ("one\n...\n", "two\n", False),
        ("by abcdef01 at 9\n", "by 01234567 at 9\n", True),
        ("by abcdef01 at 9\n", "by 01234568 at 9\n", False),
        ("limit 2592000\n", "limit 2592001\n", False),
        ("[a].*\n", "[a].*\n", True),
    ],
)
def test_what_is_printed_is_compared(expected: str, printed: str, fits: bool) -> None:
    assert matches(expected, printed, frozenset({COMMIT})) is fits


def test_a_page_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n```console\n$ mkdir a && cd a\n$ echo one; echo two >&2\none\n$ pwd\n~/b\n```\n"
    )
    with pytest.raises(AssertionError) as told:
        run(page, tmp_path)
    assert "page.md:5: $ echo one; echo two >&2\none\ntwo\n" in str(told.value)
    assert "page.md:7: $ pwd\n~/a\n" in str(told.value)
