"""`gitcfg check` asks targets' own parsers, unless it is told not to, and says where it could not."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import gitcfg as library
from gitcfg.check.run import check
from gitcfg.parsers.parsers import Parsers
from tests.parsers.oracle import needs_htcondor

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "defaults: {description: d}\nparameters: {A: {type: string}, B: {type: string}}\n",
    "groups/default.yaml": 'params: {A: x}\nfiles: {/etc/c: {format: condor, params: ["*"]}}\n',
    "nodes/n1.yaml": "{}\n",
    "nodes/n2.yaml": "params: {A: y}\n",
    "nodes/n3.yaml": "params: {B: $(A), A: $(B)}\n",
}
CIRCLE = "error[GC307] The file /etc/c has macros that form a cycle: A uses B, B uses A."


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    write(tmp_path / "pool", FILES)
    return tmp_path / "pool"


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def gitcfg(folder: Path, *words: str, installed: bool = True) -> subprocess.CompletedProcess[str]:
    """A run of the program, with HTCondor's bindings as they are or as if they were not there."""
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    if not installed:
        (folder.parent / "hidden/htcondor2").mkdir(parents=True, exist_ok=True)
        (folder.parent / "hidden/htcondor2/__init__.py").write_text("raise ImportError\n")
        environment["PYTHONPATH"] = str(folder.parent / "hidden")
    command = [sys.executable, "-m", "gitcfg", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def commit(folder: Path, words: str) -> None:
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *author, "commit", "-q", "-m", words], cwd=folder, check=True)


def test_without_htcondor_it_says_so_once(pool: Path) -> None:
    for _ in range(2):  # the second time from what is kept
        done = gitcfg(pool, "check", installed=False)
        assert done.stderr.splitlines()[:2] == [
            "note: HTCondor's own parser is not installed, so it did not check HTCondor files (GC307).",
            "hint: Run `pip install '.[htcondor]'` in a clone of gitcfg.",
        ]
        assert done.stderr.count("note:") == 1
        assert done.returncode == 0


@needs_htcondor
def test_once_it_is_installed_files_are_judged(pool: Path) -> None:
    assert "note:" in gitcfg(pool, "check", installed=False).stderr
    assert CIRCLE in gitcfg(pool, "check").stdout


def test_each_commit_of_a_range_is_not_told_of_again(pool: Path) -> None:
    commit(pool, "one")
    write(pool, {"nodes/n4.yaml": "params: {A: z}\n"})
    commit(pool, "two")
    write(pool, {"nodes/n5.yaml": "params: {A: z}\n"})
    commit(pool, "three")
    done = gitcfg(pool, "check", "--each", "HEAD~2..HEAD", installed=False)
    assert done.stderr.count("note:") == 1
    assert "No errors in 2 commits." in done.stderr


def test_it_says_so_beside_what_programs_read(pool: Path) -> None:
    done = gitcfg(pool, "check", "-o", "json", installed=False)
    assert done.stderr.count("note:") == 1
    assert msgspec.json.decode(done.stdout)["findings"] == []


def test_it_says_nothing_where_there_is_nothing_to_say(pool: Path) -> None:
    assert "note:" not in gitcfg(pool, "check", "--no-parsers", installed=False).stderr
    write(pool, {"groups/default.yaml": 'files: {/etc/c: {format: toml, params: ["*"]}}\n'})
    assert "note:" not in gitcfg(pool, "check", installed=False).stderr


def test_a_file_of_a_node_alone_counts(pool: Path) -> None:
    write(pool, {"groups/default.yaml": "{}\n"})
    assert "note:" not in gitcfg(pool, "check", installed=False).stderr
    write(pool, {"nodes/n1.yaml": 'files: {/etc/c: {format: condor, params: ["*"]}}\n'})
    assert gitcfg(pool, "check", installed=False).stderr.count("note:") == 1


def test_nothing_is_rendered_for_a_parser_that_is_not_there(
    pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitcfg.parsers.parsers.installed", lambda: None)
    monkeypatch.setattr("gitcfg.check.target_parsers.Lines", None)
    with Parsers() as parsers, library.open(pool).worktree() as fleet:
        assert check(fleet.compiled, engine=fleet.engine, judge=parsers) == ()
        assert (parsers.question_count, parsers._pool.processes) == (0, [])


def test_a_change_is_judged_by_itself_without_a_parser_too(pool: Path) -> None:
    """What the check before has found is taken over, and with it that a file was not judged."""
    for number in range(10, 30):
        write(pool, {f"nodes/m{number}.yaml": "params: {A: y}\n"})
    assert "note:" in gitcfg(pool, "check", installed=False).stderr
    write(pool, {"nodes/m10.yaml": "params: {A: z}\n"})
    assert gitcfg(pool, "check", installed=False).stderr.count("note:") == 1


@needs_htcondor
def test_with_htcondor_it_says_nothing(pool: Path) -> None:
    done = gitcfg(pool, "check")
    assert "note:" not in done.stderr
    assert CIRCLE in done.stdout
    assert "on 1 node: n3" in done.stdout
    assert done.returncode == 1


def test_parsers_can_be_left_out(pool: Path) -> None:
    done = gitcfg(pool, "check", "--no-parsers")
    assert "GC307" not in done.stdout + done.stderr
    assert done.returncode == 0


def test_rendering_asks_nobody(pool: Path) -> None:
    done = gitcfg(pool, "render", "n3")
    assert "GC307" not in done.stdout + done.stderr
    assert done.returncode == 0


def test_what_is_hostile_becomes_findings_and_no_more(pool: Path, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    texts = [
        f"include command : /usr/bin/touch {touched} |\\n",
        f"incl\\\\\\nude command : /usr/bin/touch {touched} |\\n",
        "inc\\0\\nlude : x\\n",
        "A = $(B)\\nB = $(A)\\n",
        "\\e[31mnonsense\\n",
    ]
    entries = [f'  /etc/condor.d/{number}: {{text: "{text}"}}' for number, text in enumerate(texts)]
    own = '  /etc/condor.d/own: {format: condor, params: ["*"]}'
    write(pool, {"groups/default.yaml": "\n".join(["files:", own, *entries, ""])})
    done = gitcfg(pool, "check")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
    for number, words in enumerate(["`include` at line 1", "`include` at line 2", "a NUL", "in a cycle"]):
        assert f"/etc/condor.d/{number}" in done.stdout
        assert words in done.stdout
    assert not touched.exists()
