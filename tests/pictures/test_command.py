"""`gitcfg graph`: where pictures go, and what is said where something is in the way."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.pictures.reading import needs_dot, read_svg, shown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of 34 features that all include those before them."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    (tmp_path / "features").mkdir()
    for n in range(34):
        names = ", ".join(f"F{m}" for m in range(n))
        (tmp_path / f"features/F{n}.yaml").write_text(f"description: F{n}\ninclude: [{names}]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@needs_dot
def test_svg_is_written_to_a_file(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", "features", "F3", "-o", "svg", "--out", "f.svg"]) == 0
    assert capfd.readouterr() == ("", "")
    assert {"F0", "F1", "F2", "F3", "F33"} <= set(shown(read_svg((folder / "f.svg").read_text())))


@needs_dot
def test_svg_is_written_to_stdout(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", "groups", "-o", "svg"]) == 0
    assert "default" in shown(read_svg(capfd.readouterr().out))


def test_without_graphviz_nothing_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert shutil.which("dot") is None
    assert run(["graph", "features", "-o", "svg", "--out", "f.svg"]) == 2
    assert capfd.readouterr().err.startswith("error: Graphviz's `dot`, which draws the SVG, cannot be run")
    assert not (folder / "f.svg").exists()


def test_what_is_written_to_a_file_is_what_is_written_to_stdout(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for form in ("dot", "mermaid", "json", "jsonl", "yaml"):
        assert run(["graph", "features", "F1", "F2", "-o", form]) == 0
        expected = capfd.readouterr().out
        assert run(["graph", "features", "F1", "F2", "-o", form, "--out", "file"]) == 0
        assert capfd.readouterr().out == ""
        assert (folder / "file").read_text() == expected


def test_that_mermaid_will_not_draw_a_picture_is_told(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["graph", "groups", "-o", "mermaid"]) == 0
    assert capfd.readouterr().err == ""
    assert run(["graph", "features", "-o", "mermaid"]) == 0
    assert "Mermaid draws 500 lines and 50000 characters at most" in capfd.readouterr().err
