"""The quick reader: what it takes, it takes as the careful one does."""

import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.load import document, yaml
from gitcfg.load.document import Mark
from gitcfg.load.reader import MAX_LEVELS, Reader, Refused, quick
from gitcfg.model import Finding

TOKENS = (
    *(
        "a: ",
        "b:\n",
        "- ",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "\n",
        "  ",
        "\n  ",
        '"',
        "'",
        "'it''s'",
        '"\\x41"',
    ),
    *(
        "&a ",
        "*a",
        "!!str ",
        "! ",
        "!",
        "<<: ",
        "null",
        "~",
        "TRUE",
        "017",
        "0x1F",
        ".inf",
        ".nan",
        "1e5",
        "x",
    ),
    *("# c\n", "|\n  t\n", ">-\n  t\n", "---\n", "...\n", "%YAML 1.2\n", "\u2028", "\x85", "\r\n", "é", "\t"),
    *('"', "A && B", "$(X)", "a != b", "&&", "**", '"*"', "9" * 4001, "\ufeff", "\x07", ": ", "-", "12"),
)
texts = st.lists(st.sampled_from(TOKENS), max_size=14).map("".join)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def careful(text: str) -> tuple[Any, Mark, list[Finding]] | None:
    """What the careful reader says; None: that it is wrong."""
    findings: list[Finding] = []
    try:
        value, node = Reader("f.yaml", text, findings).read()
    except Refused:
        return None
    return value, document.marked(node, value), findings


def agree(text: str) -> bool:
    """Does the quick reader take it? Then both must have read the same, and nothing is wrong with it."""
    read = quick(text)
    if read is None:
        return False
    value, node = read
    assert repr((value, document.marked(node, value), [])) == repr(careful(text))
    return True


@given(texts)
def test_what_is_read_quickly_is_what_is_read_carefully(text: str) -> None:
    agree(text)


@given(st.dictionaries(st.text(), plain, max_size=4))
def test_what_is_dumped_is_read_alike(value: dict[str, Any]) -> None:
    agree(yaml.dump(value))


def test_mistakes_made_at_random_are_read_alike() -> None:
    text = 'groups: [a, "b"]\nparams:\n  P: {$append: x}\n  Q: 017\nfacts:\n  - n: null\n    m: "x y"\n'
    chance = random.Random(1)
    taken = 0
    for _ in range(3000):
        place = chance.randrange(len(text) + 1)
        end = place + chance.choice([0, 0, 1, 3])
        taken += agree(text[:place] + chance.choice(TOKENS) + text[end:])
    assert taken > 300


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [x, {c: TRUE}]\n",
        "a: A && B\nb: x != y\nc: '*'\n",
        "? a\n: - b\n",
        '"a": |\n  text\n',
        "--- {}\n",
        "[" * MAX_LEVELS + "]" * MAX_LEVELS,
        "# no document beside this one\n- x\n",
    ],
)
def test_usual_documents_are_read_quickly(text: str) -> None:
    assert agree(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a:\n",
        "a: 1\na: 2\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!str 1\n",
        "a: ! 1\n",
        "a: [!, x]\n",
        "<<: {a: 1}\n",
        "a: 1\n---\nb: 1\n",
        "? [a]\n: b\n",
        "a:\tb\n",
        "a: " + "9" * 4001,
        "[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1),
        "a: b: c\n",
    ],
)
def test_what_is_wrong_or_rare_is_left_to_the_careful_reader(text: str) -> None:
    assert quick(text) is None


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "- " * 200_000, "? " * 200_000, "-\n" + " -\n" * 3, "{a: " * 90_000]
)
def test_no_nesting_ends_the_process(text: str) -> None:
    code = "import sys; from gitcfg.load.reader import quick; quick(sys.stdin.read())"
    subprocess.run([sys.executable, "-c", code], input=text, text=True, check=True, timeout=60)


def test_nesting_by_indentation_does_not_end_the_process() -> None:
    deep = "".join(" " * level + "a:\n" for level in range(1400))
    code = "import sys; from gitcfg.load.reader import quick; print(quick(sys.stdin.read()))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=deep, text=True, check=True, capture_output=True
    )
    assert done.stdout == "None\n"
