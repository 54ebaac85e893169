"""Conversations as data: the lines that are typed, and what is on the screen then."""

import os
from pathlib import Path

import pytest

from tests.configure.dialogue import converse_by_lines
from tests.configure.pools import POOL, committed, contents, git

CASES = Path(__file__).parent / "conversations"
UPDATES = "UPDATE_CASES" in os.environ
RULE = "-" * 8
FILES = {**POOL, "parameters/few.yaml": "parameters: {DEBUG: {description: Says more., type: boolean}}\n"}


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.txt")))
def test_a_conversation_reads_as_expected(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITCFG_TODAY", "2026-01-01")
    monkeypatch.setenv("HOME", str(tmp_path))
    place = CASES / f"{name}.txt"
    typed, _, expected = place.read_text().partition(f"{RULE}\n")
    target, *lines = typed.splitlines()
    folder = committed(tmp_path / "pool", FILES)
    code, shown = converse_by_lines(folder, target, lines)
    last = git(folder, "log", "-1", "--format=%H")
    output = f"{shown}{capsys.readouterr().out}".replace(last, "COMMIT").replace(last[:10], "COMMIT")
    kept = {path: text for path, text in contents(folder).items() if FILES.get(path) != text}
    written = "".join(f"== {path}\n{text}" for path, text in sorted(kept.items()))
    found = "\n".join(map(str.rstrip, f"{output}== exit code {code}\n{written}".splitlines())) + "\n"
    if UPDATES:
        place.write_text(f"{typed}{RULE}\n{found}")
    assert found == expected or UPDATES
    assert max(map(len, shown.splitlines())) <= 100
