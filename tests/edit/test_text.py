"""Changes of YAML text: they mean what the same change by hand means, and leave everything else as it was."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gitcfg.edit.yaml.changes import Change, Delete, Insert, Move, Rename, Set
from gitcfg.edit.yaml.text import edit_text, rest_end
from gitcfg.edit.yaml.tree import parse_spots, parse_value
from gitcfg.generate.options import PROFILES
from gitcfg.generate.repository import repository
from gitcfg.load.document import parse
from gitcfg.model import GitcfgError
from tests.edit.drawn import change
from tests.edit.styled import Writer, mapping
from tests.seeds import many

CASES = Path(__file__).parent.parent / "cases" / "edits"


def drawn(seed: int) -> tuple[str, Change, Any, Change | None]:
    """A text, a change of it, what it means then, and the change that takes it back."""
    rng = Random(f"edit {seed}")
    value = mapping(rng)
    text = Writer(rng).document(value)
    assert repr(read(text)) == repr(value)
    return (text, *change(rng, value))


def read(text: str) -> Any:
    doc = parse("x", text.encode())
    assert not doc.findings, text
    return doc.value


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 1000, 250))
def test_a_change_means_what_it_means_by_hand_and_can_be_taken_back(start: int) -> None:
    backwards = 0
    for seed in many(start, 250):
        text, asked, wanted, back = drawn(seed)
        result = edit_text(text, [asked])
        assert repr(read(result)) == repr(wanted), text
        if back is not None:
            backwards += 1
            assert edit_text(result, [back]) == text
    assert backwards > 100


def test_bytes_outside_the_entry_stay() -> None:
    judged = 0
    for seed in many(5000, 400):
        text, asked, _, _ = drawn(seed)
        if isinstance(asked, Insert | Move):
            continue
        result = edit_text(text, [asked])
        begin, end = bounds(text, asked)
        if isinstance(asked, Delete):
            assert comments(result) == comments(text[:begin] + text[end:]), text
        else:
            judged += 1
            assert result.startswith(text[:begin])
            assert result.endswith(text[end:])
    assert judged > 80


def bounds(text: str, asked: Set | Delete | Rename) -> tuple[int, int]:
    """Where the entry that is changed begins and ends; of one that is new, neither is there."""
    spot = parse_spots(text)
    assert spot is not None
    for step in asked.path[:-1]:
        place = spot.place(step)
        assert place is not None
        spot = spot.entries[place].value
    place = spot.place(asked.path[-1])
    if place is None:
        at = rest_end(text, spot.entries[-1].end) if spot.entries else spot.start
        return (spot.entries[-1].end if spot.entries else at), max(at, spot.end)
    entry = spot.entries[place]
    return entry.start, rest_end(text, entry.end)


def bracketed(rng: Random) -> tuple[str, int]:
    """A list in brackets over several lines with a comment here and there, each another one; its length."""
    size, text = rng.randint(1, 5), "top:\n  a: ["
    for n in range(size):
        text += rng.choice(("", " ", "\n    ", f" # c{n}\n    ", f"\n    # d{n}\n    ")) + f"x{n}"
        text += rng.choice(("", "", "", f" # e{n}\n    "))
        text += "," if n < size - 1 else rng.choice(("", ","))
        text += rng.choice(("", "", f" # f{n}\n    "))
    text += rng.choice(("]", "\n  ]")) + rng.choice(("", " # end"))
    return re.sub(" +\n", "\n", f"{text}\n  b: 1\n"), size


def test_comments_in_brackets_stay_with_what_they_are_about() -> None:
    for seed in many(9000, 200):
        rng = Random(f"brackets {seed}")
        text, size = bracketed(rng)
        at, path = rng.randrange(size), ("top", "a")
        before = sorted(re.findall("# [a-z0-9]+", text))
        for asked in (Move(path, at, rng.randrange(size)), Insert(path, at, "new"), Set((*path, at), "new")):
            result = edit_text(text, [asked])
            assert sorted(re.findall("# [a-z0-9]+", result)) == before, text
        gone = set(before) - set(re.findall("# [a-z0-9]+", edit_text(text, [Delete((*path, at))])))
        assert gone <= {f"# e{at}", f"# f{at}", f"# c{at + 1}"}, text


def comments(text: str) -> list[str]:
    """The comments that have lines of their own."""
    return re.findall(r"^ *# ?\w.*$", text.replace("\r", ""), re.MULTILINE)


@pytest.mark.parametrize("profile", ["small", "stress"])
def test_every_key_of_a_generated_repository_can_be_dropped_and_set(profile: str) -> None:
    files = {path: text for path, text in repository(PROFILES[profile](1)).items() if path.endswith(".yaml")}
    rng = Random(profile)
    for path in rng.sample(sorted(files), min(40, len(files))):
        value = read(files[path])
        asked, wanted, back = change(rng, value)
        result = edit_text(files[path], [asked])
        assert repr(read(result)) == repr(wanted)
        if back is not None:
            assert edit_text(result, [back]) == files[path]


def change_of(line: str) -> Change:
    word, *rest = read(line)
    path = tuple(rest[0])
    match word:
        case "set":
            return Set(path, parse_value(rest[1], "x"), rest[1], tuple(rest[2]) if len(rest) > 2 else ())
        case "insert":
            return Insert(path, rest[1], parse_value(rest[2], "x"), rest[2])
        case "move":
            return Move(path, rest[1], rest[2])
        case "rename":
            return Rename(path, rest[1])
    assert word == "delete"
    return Delete(path)


def sections(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        body = body.removesuffix("\n") if "no end" in heading else body
        yield heading.split()[0], body.replace("\n", "\r\n") if "crlf" in heading else body


@pytest.mark.parametrize("path", sorted(CASES.glob("*.txt")), ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    parts = list(sections(path.read_text()))
    found = dict(parts)
    assert [name for name, _ in parts] == ["before", "change", "after"]
    changes = [change_of(line) for line in found["change"].splitlines()]
    assert edit_text(found["before"], changes) == found["after"]


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        ("a: 1\na: 2\n", Delete(("a",)), "twice"),
        ("a: &x 1\n", Delete(("a",)), "Anchors"),
        ("a: 1\n", Delete(("b",)), "b does not exist"),
        ("a: 1\n", Set(("a", "b"), "x"), "b is not a mapping"),
        ("a: {b: 1}\n", Insert(("a",), 0, "x"), "a is not a list"),
        ("a: [x]\n", Move(("a",), 0, 1), "no position 1"),
        ("a: 1\nb: 2\n", Rename(("a",), "b"), "already exists"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, asked: Change, message: str) -> None:
    with pytest.raises(GitcfgError, match=message):
        edit_text(text, [asked])


def test_a_text_that_cannot_be_spliced_is_refused_and_not_made_wrong() -> None:
    with pytest.raises(GitcfgError) as refused:
        edit_text("? a\n: 1\n? b\n: 2\n", [Delete(("a",))])
    assert refused.value.code == 4
