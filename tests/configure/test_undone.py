"""Laws of a conversation: what is not kept leaves no trace, and all steps can be undone."""

import os
from pathlib import Path
from random import Random

import pytest

from tests.configure.dialogue import converse_by_lines, fed
from tests.configure.pools import committed, contents, git
from tests.seeds import many, mostly_slow

TARGETS = ("group/web", "group/empty", "node/n2", "node/s2", "nodeset/s")
STEPS = (
    *("a Web", "a Webmail", "a New", "a Base", "i 0 Rival", "r 0", "r Loud", "s HOST a.b", "s LEVEL x"),
    *("s TRACE 1", "u LEVEL", "j Racks", "j 0 empty", "le web", "j n2", "j s[1-3]", "le s1", "b"),
)
LINES = (
    *STEPS,
    *("", "c", "1", "y", "n", "?", "back", "show", "show nodes", "show par", "a", "i", "s", "j", "le", "p"),
    *("d", "l", "New", "Web, Other", "string", "a.b", "x y", '"quit"', "[", "show groups web"),
)


@pytest.mark.parametrize("seed", mostly_slow(many(0, 10)))
def test_what_is_not_kept_leaves_no_trace(tmp_path: Path, seed: int) -> None:
    rng = Random(f"left {seed}")
    folder = committed(tmp_path / "pool")
    before = contents(folder)
    typed: list[str] = []
    for _ in range(14):
        typed += rng.choice(((rng.choice(LINES),), (rng.choice(LINES),), ("quit", rng.choice(("", "back")))))
    _, shown = converse_by_lines(folder, rng.choice(TARGETS), [*typed, *["back"] * 3, "quit", "n"])
    assert contents(folder) == before, shown
    assert git(folder, "status", "--porcelain") == ""
    assert shown.endswith("Nothing was changed.\n")


@pytest.mark.parametrize("seed", mostly_slow(many(0, 10)))
def test_to_undo_all_steps_leads_to_the_beginning(tmp_path: Path, seed: int) -> None:
    rng = Random(f"undone {seed}")
    folder, target = committed(tmp_path / "pool"), rng.choice(TARGETS)
    steps = [rng.choice(STEPS) for _ in range(6)]
    code, shown = fed(folder, target, ["l", *steps, *["b"] * 30, "d", "l", "q"], creates=True)
    begin, *_, end, _ = shown.split(f"{target}> ")
    assert code == 0, shown
    assert end == begin.partition("  a NAME")[0]
    assert f"{target}> Nothing is changed yet.\n" in shown


@pytest.mark.parametrize("answer", ["c", "w"])
def test_an_interruption_at_any_moment_of_writing_leaves_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = committed(tmp_path / "pool")
    before, found = contents(folder), set()
    real = os.replace
    for last in range(9):
        calls = 0

        def replace(old: str, new: str, **more: int) -> None:
            nonlocal calls
            calls += 1
            if calls == last + 1:  # noqa: B023
                raise KeyboardInterrupt
            real(old, new, **more)

        lines = ["a New", "c", "It.", "", "w", answer, "", ""]
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            try:
                converse_by_lines(folder, "group/web", lines)
                break
            except KeyboardInterrupt:
                found.add(contents(folder) == before)
        assert git(folder, "status", "--porcelain") == ""
    assert found == {True}
    assert "features/New.yaml" in contents(folder)
