"""Words of completion: few names, the beginnings of many, and how shells quote them."""

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.cli.completion.shells import quote_for_bash, shorten, split, unquote


@given(st.sets(st.text("ab1", min_size=1, max_size=9), max_size=30), st.text("ab1", max_size=2))
def test_few_names_are_all_told(names: set[str], prefix: str) -> None:
    assert shorten(names, prefix) == (sorted(name for name in names if name.startswith(prefix)), True)


def test_beginnings_cover_every_name() -> None:
    names = {f"{a}{b:03}" for a in ("x", "yy", "zebra", "Z") for b in range(800)} | {"y"}
    stems, whole = shorten(names, "")
    assert not whole
    assert 2 <= len(stems) <= 100
    assert all(any(name.startswith(stem) for stem in stems) for name in names)
    assert shorten({"START", "start2"}, "sta") == (["start2"], True)
    assert shorten({"START"}, "sta") == (["START"], True)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), max_size=12)


@given(TEXTS, st.sampled_from(["", "'", '"']))
def test_what_is_quoted_means_itself(text: str, quote: str) -> None:
    line = quote + quote_for_bash(text, quote)
    assert unquote(line) == text
    if text:
        assert [word.value for word in split(f"a {line}{quote} ")] == ["a", text, ""]


def test_bash_reads_what_is_quoted_as_it_is_meant() -> None:
    texts = [
        "",
        "a b",
        "$(x)",
        "`x`",
        "a'b",
        'a"b',
        "a\\b",
        "$x",
        "*",
        "~",
        "#a",
        "a#b",
        "ä b",
        "{a,b}",
        "-o",
        "a;b&c|d",
        "\ta",
    ]
    words = [quote + quote_for_bash(text, quote) + quote for text in texts for quote in ("'", '"')]
    words += [quote_for_bash(text, "") for text in texts if text]
    line = "printf '%s\\0' " + " ".join(words)
    read = (
        subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    )
    assert read == [*(text for text in texts for _ in range(2)), *(text for text in texts if text)]
