"""`python -m gitcfg.generate`: the help, the files, and wrong usage."""

from pathlib import Path

import pytest

import gitcfg
from gitcfg.generate.__main__ import main
from gitcfg.generate.options import PROFILES
from gitcfg.generate.repository import MISTAKES


def test_the_help_names_profiles_and_mistakes_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: python -m gitcfg.generate ")
    assert all(f"\n  {name} " in shown for name in PROFILES)
    assert all(code in shown for code in MISTAKES)
    assert "\nexamples:\n  python -m gitcfg.generate pool " in shown


def test_it_writes_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pool"
    assert main([str(folder), "--nodes", "12", "--seed", "3", "--mistake", "gc204"]) == 0
    count = sum(path.is_file() for path in folder.rglob("*"))
    assert capsys.readouterr().out == f"Wrote {count} files to {folder}.\n"
    fleet = gitcfg.open(str(folder)).worktree()
    assert len(fleet) == 12
    assert "GC204" in {finding.code for finding in fleet.findings}


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ([], "The following arguments are required: DIR.", 2),
        (["pool", "--wrong"], "Unrecognized arguments: --wrong.", 2),
        (["pool", "--nodes", "many"], "Argument --nodes: invalid int value: 'many'.", 2),
        (["pool", "--mistake", "GC999"], "The code GC999 has no mistake.", 2),
        (["."], ". is not empty.", 4),
    ],
)
def test_wrong_usage_has_a_message_and_a_hint(
    words: list[str],
    message: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main(words) == code
    error, hint = capsys.readouterr().err.splitlines()
    assert error == f"error: {message}"
    assert hint.startswith("hint: ")
