"""`gitcfg export docs` on the sample repository: a folder, a page, the same twice, and when it is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from gitcfg.output.stamps import is_ours
from tests.convert.reference.reading import Page, read_markdown

SAMPLE = Path(__file__).parent.parent.parent / "sample-repo"


def docs(*words: object, repo: Path = SAMPLE) -> int:
    return run(["-C", str(repo), "export", "docs", *map(str, words)])


def held(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_folder_and_a_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder, html = tmp_path / "site", tmp_path / "site.html"
    assert docs("--out", folder, "--html", html, "--title", "The <pool>") == 0
    files = held(folder)
    assert all(map(is_ours, files.values()))
    for path, content in files.items():
        assert set(read_markdown(path, content.decode()).links) <= set(files)
    found = Page(html.read_text())
    assert set(found.targets) <= set(found.ids)
    assert "The <pool>" in found.text
    assert capfd.readouterr().out.splitlines() == [
        f"{folder}: {len(files)} files written.",
        f"{html}: 1 file written.",
    ]
    before = html.read_bytes()
    assert docs("--out", folder, "--html", html, "--title", "The <pool>") == 0
    assert held(folder) == files
    assert html.read_bytes() == before
    assert capfd.readouterr().out.count("nothing to do") == 2


def test_without_graphviz_lists_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert docs("--html", tmp_path / "site.html") == 0
    text = (tmp_path / "site.html").read_text()
    assert "<svg" not in text
    assert 'class="tree"' in text
    assert capfd.readouterr().err.count("The page has lists instead of pictures.") == 1


def test_a_repository_is_no_place_for_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    assert docs("--out", tmp_path) == 2
    assert docs() == 2
    assert docs("--html", tmp_path) == 4
    assert "is a folder, where a file is needed" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "gitcfg.yaml"]


@pytest.mark.slow
def test_killed_at_any_time_each_file_is_whole(tmp_path: Path) -> None:
    """The next run ends as if there had been none before."""
    folder = tmp_path / "site"
    words = [sys.executable, "-m", "gitcfg", "-C", str(SAMPLE), "export", "docs", "--out", str(folder)]
    for wait in range(20):
        program = subprocess.Popen([*words, "--title", f"Title {wait}"], stdout=subprocess.DEVNULL)
        try:
            program.wait(0.3 + 0.02 * wait)
        except subprocess.TimeoutExpired:
            os.kill(program.pid, signal.SIGKILL)
            program.wait()
        found = held(folder)
        assert all(is_ours(text) for path, text in found.items() if not path.startswith(".gitcfg-new-"))
    assert docs("--out", folder) == 0
    whole = tmp_path / "whole"
    assert docs("--out", whole) == 0
    assert held(folder) == held(whole)
