"""SVG by Graphviz: drawn where there is one, and said plainly where there is none or it fails."""

import os
from pathlib import Path

import pytest

from gitcfg.cli.graph import svg
from gitcfg.model import GitcfgError
from gitcfg.pictures.dot import dot
from tests.pictures.hostile import picture_of
from tests.pictures.reading import needs_dot, read_svg, shown


def program(folder: Path, script: str) -> str:
    """A program that takes Graphviz's place."""
    path = folder / "dot"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@needs_dot
def test_a_picture_is_drawn() -> None:
    assert {"Hä?", "x"} <= set(shown(read_svg(svg(dot(picture_of("Hä?"))))))


def test_dot_is_given_the_text_and_asked_for_svg(tmp_path: Path) -> None:
    assert svg("digraph { ä }", program(tmp_path, 'echo "$@"; cat')) == "-Tsvg\ndigraph { ä }"


def test_a_missing_dot_is_told_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="cannot be run: No such file or directory") as error:
        svg("digraph {}", str(tmp_path / "dot"))
    assert "Install Graphviz" in error.value.hints[0]
    assert "-o mermaid" in error.value.hints[1]


def test_a_dot_that_may_not_be_run_is_told(tmp_path: Path) -> None:
    os.chmod(path := program(tmp_path, "true"), 0o644)
    with pytest.raises(GitcfgError, match="Permission denied"):
        svg("digraph {}", path)


def test_a_bad_exit_is_told_with_what_dot_says(tmp_path: Path) -> None:
    failing = program(tmp_path, "cat > /dev/null; echo oh dear >&2; echo more >&2; exit 3")
    with pytest.raises(GitcfgError, match="failed with status 3: oh dear") as error:
        svg("digraph {}", failing)
    assert error.value.code == 2


def test_a_crash_is_told(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="was ended by SIGKILL"):
        svg("digraph {}", program(tmp_path, "kill -9 $$"))


def test_a_dot_that_does_not_end_is_ended(tmp_path: Path) -> None:
    started = tmp_path / "started"
    endless = program(tmp_path, f"echo $$ > {started}; exec sleep 600")
    with pytest.raises(GitcfgError, match="did not draw the picture within 2 s") as error:
        svg("digraph {}", endless, 2)
    assert error.value.code == 5
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_a_dot_that_reads_nothing_is_no_closed_pipe(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="failed with status 1: it does not say why"):
        svg("x" * 1_000_000, program(tmp_path, "exit 1"))
