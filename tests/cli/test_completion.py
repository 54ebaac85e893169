"""Completion: what is offered where, also of broken repositories, and how little is loaded for it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.completing import FILES, offered, pool_in, write


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pool_in(tmp_path_factory.mktemp("completion"))


KINDS = ("feature", "group", "node", "nodeset", "override", "parameter", "subsystem", "template")


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["expl"], ["explain"]),
        (["import", ""], ["condor", "wallaby"]),
        (["--co"], ["--color"]),
        (["--color", ""], ["always", "auto", "never"]),
        (["--color=a"], ["--color=always", "--color=auto"]),
        (["--color", "never", "-C", ".", "expl"], ["explain"]),
        (["-C"], ["-C"]),
        (["-C", ""], ["<folders>"]),
        (["render", "--out="], ["<folders>"]),
        (["import", "wallaby", "d"], ["<files>"]),
        (["check", "--st"], ["--staged"]),
        (["check", "--staged", "--st"], []),
        (["check", "-o"], ["-o"]),
        (["check", "-oj"], ["-ojson", "-ojsonl"]),
        (["check", "-o", "j"], ["json", "jsonl"]),
        (["check", "--", "--st"], []),
        (["explain", "e"], ["exec07.example.org"]),
        (["explain", "m"], ["mpi1.example.org", "mpi2.example.org", "mpi3.example.org"]),
        (["explain", "LOG"], ["login"]),
        (["explain", "@"], []),
        (["render", "@"], ["@Big memory workers", "@Central managers"]),
        (["render", "login", "exec07.example.org,g"], ["exec07.example.org,gpu01.example.org"]),
        (["render", "--all", "@C"], ["@Central managers"]),
        (["explain", "login", ""], ["CONDOR_HOST", "RANK", "SLOT_TYPE_1", "START"]),
        (["explain", "login", "RANK", "ST"], ["START"]),
        (["explain", "login", "st"], ["START"]),
        (["explain", "login", "--group", "B"], ["Big memory workers"]),
        (["explain", "login", "--feature=G"], ["--feature=GpuNode"]),
        (["render", "login", "--file", "/"], ["/etc/condor/a.conf", "/etc/motd"]),
        (["check", "--at", ""], ["HEAD", "main", "snapshot/2026/spring", "topic/one", "v1.0"]),
        (["check", "--at=t"], ["--at=topic/one"]),
        (["diff", "main..t"], ["main..topic/one"]),
        (["diff", "main...v"], ["main...v1.0"]),
        (["diff", "main", "l"], ["login"]),
        (["show", "gr"], ["group"]),
        (["show", "group", ""], ["Big memory workers", "Central managers"]),
        (["show", "features", "G"], ["GpuNode"]),
        (["show", "node", "m"], ["mpi1.example.org", "mpi2.example.org", "mpi3.example.org"]),
        (["show", "nodeset", ""], ["mpi"]),
        (["show", "override", ""], ["climate reservation"]),
        (["show", "template", ""], ["motd.j2"]),
        (["show", "subsystem", "s"], ["schedd", "startd"]),
        (["show", "file", "/etc/m"], ["/etc/motd"]),
        (["graph", "features", ""], ["ExecuteNode", "GpuNode"]),
        (["values", "CO"], ["CONDOR_HOST"]),
        (["values", "START", "@B"], ["@Big memory workers"]),
        (["log", "C"], ["CONDOR_HOST", "Central managers"]),
        (["log", "login", "C"], ["CONDOR_HOST"]),
        (["log", "--kind", "g"], ["group"]),
        (["search", "C"], []),
        (["help", "gc20"], [f"GC20{n}" for n in range(1, 10)]),
        (["snapshot", "sh"], ["show"]),
        (["snapshot", "show", ""], ["2026/spring"]),
        (["snapshot", "restore", "2026/"], ["2026/spring"]),
        (["snapshot", "delete", "x"], []),
        (["snapshot", "create", ""], []),
        (["deploys", ""], ["1pkd3a0aaa", "1pkd3b1bbb", "last"]),
        (["deploys", "1pkd3b"], ["1pkd3b1bbb"]),
        (["deploys", "--send", "1pkd3a"], ["1pkd3a0aaa"]),
        (["deploy", "--resume", "l"], ["last"]),
        (["deploy", "--resume=1pkd3a"], ["--resume=1pkd3a0aaa"]),
        (["undo", "to"], ["topic/one"]),
        (["undo", "--ours", ""], ["<stems>", *(f"{kind}/" for kind in KINDS)]),
        (["undo", "--ours", "g"], ["<stems>", "group/"]),
        (["undo", "--theirs", "group/"], ["group/Big memory workers", "group/Central managers"]),
        (["undo", "--theirs", "node/E"], ["node/exec07.example.org"]),
        (["undo", "--theirs=node/g"], ["--theirs=node/gpu01.example.org"]),
        (["undo", "--ours", "parameter/C"], ["parameter/CONDOR_HOST"]),
        (["undo", "--ours", "subsystem/"], ["subsystem/schedd", "subsystem/startd"]),
        (["undo", "--ours", "template/m"], ["template/motd.j2"]),
        (["undo", "--ours", "group/Big memory workers:"], ["group/Big memory workers:RANK"]),
        (["undo", "--ours", "group/Central managers:f"], ["group/Central managers:files:/etc/motd"]),
        (["undo", "--ours", "feature/GpuNode:"], ["feature/GpuNode:include"]),
        (["undo", "--ours", "nothing/"], []),
        (["delete", "over"], ["override"]),
        (["delete", "group", ""], ["Big memory workers", "Central managers"]),
        (["delete", "override", ""], ["climate reservation"]),
        (["modify", "node", "ex"], ["exec07.example.org"]),
        (["modify", "subsystem", "s"], ["schedd", "startd"]),
        (["rename", "feature", "G"], ["GpuNode"]),
        (["rename", "parameter", "ST"], ["START"]),
        (["rename", "feature", "GpuNode", ""], []),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["no-such-command", ""], []),
        (["render", "--where", ""], []),
    ],
    ids=" ".join,
)
def test_what_is_offered(
    words: list[str], candidates: list[str], pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pool)
    assert sorted(offered(words)) == sorted(candidates)


def test_without_arguments_options_are_offered(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pool)
    assert {"--at", "--staged", "--output", "--help"} <= set(offered(["check", ""]))
    assert "-o" not in offered(["check", ""])


@pytest.mark.parametrize("words", [["-C", "{}"], ["--repo", "{}"], ["--repo={}"], ["-C{}"], ["-C", "$POOL"]])
def test_the_repository_that_is_named_is_asked(
    words: list[str], pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POOL", str(pool))
    said = [word.format(pool) for word in words]
    assert offered([*said, "explain", "exec"]) == ["exec07.example.org"]
    assert offered([*said, "check", "--at", "v"]) == ["v1.0"]
    assert offered(["explain", "exec"], {"GITCFG_REPO": str(pool / "groups")}) == ["exec07.example.org"]
    assert offered(["explain", "exec"]) == []


def said(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What the process says to a shell."""
    return subprocess.run(
        [sys.executable, "-m", "gitcfg", "--complete", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_broken_repository_completes_what_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "pool", FILES)
    (folder / "gitcfg.yaml").write_text("format: [")
    (folder / "nodesets/broken.yaml").write_text("nodes: a[1-2]\ngroups: [")
    (folder / "nodesets/none.yaml").write_text("nodes: b[1-\n")
    (folder / "nodesets/bytes.yaml").write_bytes(b"nodes: \xff[1-2]\n")
    (folder / "parameters/broken.yaml").write_text("parameters:\n  BEFORE: {}\n  AFTER: {\n")
    (folder / "groups/folder.yaml").mkdir()
    (folder / "groups/loop").symlink_to(folder / "groups")
    (folder / "groups/link.yaml").symlink_to("/etc/passwd")
    (folder / "features/large.yaml").write_text("params: {LARGE: 1}\n#" + "x" * (1 << 20))
    os.mkfifo(folder / "features/pipe.yaml")
    monkeypatch.chdir(folder)
    assert offered(["explain", "a"]) == ["a1", "a2"]
    assert offered(["explain", "b"]) == []
    assert offered(["explain", "exec"]) == ["exec07.example.org"]
    assert {"BEFORE", "START"} <= set(offered(["explain", "a1", ""]))
    assert "LARGE" not in offered(["explain", "a1", ""])
    assert offered(["show", "group", ""]) == ["Big memory workers", "Central managers"]
    assert offered(["check", "--at", ""]) == []


@pytest.mark.parametrize(
    "words",
    [["zsh", "explain", ""], ["zsh", "check", "--at", ""], ["zsh"], [], ["bash", "x"], ["csh", "\udcff"]],
)
def test_nothing_is_said_on_stderr(words: list[str], tmp_path: Path) -> None:
    done = said(words, tmp_path)
    assert done.stderr == ""
    assert done.stdout in ("", "words\n")


def test_a_shell_in_a_folder_that_is_gone_is_told_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    line = f"cd {folder} && rmdir {folder} && exec {sys.executable} -m gitcfg --complete zsh explain ''"
    folder.mkdir()
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_of_very_many_names_beginnings_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        {"gitcfg.yaml": "", "nodesets/n.yaml": "nodes: n[00001-99999].example.org\n", "nodes/a.yaml": ""},
    )
    monkeypatch.chdir(tmp_path)
    how, *stems = offered(["explain", "n"])
    assert how == "<stems>"
    assert stems == [f"n{number:02}" for number in range(100)]
    assert offered(["explain", "n0123"]) == [f"n0123{number}.example.org" for number in range(10)]
    assert offered(["explain", ""])[1:] == ["a", "n0", *(f"n{number}" for number in range(1, 10))]


@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["che"], ["yaml"]),
        (["check", "--"], ["yaml"]),
        (["explain", "e"], []),
        (["explain", "e", "S"], []),
        (["check", "--at", ""], ["yaml"]),
        (["snapshot", "show", ""], ["yaml"]),
        (["undo", "--ours", "group/"], ["yaml"]),
        (["undo", "--ours", "group/Big memory workers:"], []),
    ],
)
def test_the_quick_way_loads_little(words: list[str], without: list[str], pool: Path) -> None:
    code = "import sys; from gitcfg.cli.main import complete; complete(sys.argv[1:])"
    code += "; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code, "zsh", *words],
        cwd=pool,
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.partition(".")[0] for line in done.stdout.splitlines()}
    assert "gitcfg" in loaded
    assert loaded.isdisjoint(
        {"typer", "rich", "pygit2", "msgspec", "ClusterShell", "jinja2", "pathlib", *without}
    )


def test_without_a_shell_the_shells_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["completion"]) == 2
    assert "Choose from: bash, zsh, fish" in capfd.readouterr().err
    assert run(["completion", "csh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capfd.readouterr().err
