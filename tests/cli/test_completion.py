"""Completion: what is offered where, in real shells, of broken and of hostile repositories."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.cli.complete.ask import told
from gitcfg.cli.complete.few import few
from gitcfg.cli.complete.quoting import quoted, split, unquoted
from gitcfg.cli.main import run
from tests.cli import shells
from tests.cli.shells import Shell

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/a.yaml": "parameters:\n  START: {type: expression}\n  CONDOR_HOST: {}\n  'SLOT_*': {}\n",
    "subsystems/s.yaml": "subsystems: {startd: {}, schedd: {}}\n",
    "features/htcondor/ExecuteNode.yaml": "params: {SLOT_TYPE_1: x}\nfiles: {/etc/condor/a.conf: {}}\n",
    "features/GpuNode.yaml": "include: [ExecuteNode]\n",
    "groups/Big memory workers.yaml": "params: {RANK: 1}\n",
    "groups/Central managers.yaml": "files:\n  /etc/motd: {template: motd.j2}\n",
    "nodes/exec07.example.org.yaml": "groups: []\n",
    "nodes/rack 1/gpu01.example.org.yaml": "{}\n",
    "nodesets/mpi.yaml": "nodes: mpi[1-3].example.org,login\ngroups: []\n",
    "overrides/climate reservation.yaml": "params: {}\n",
    "templates/motd.j2": "hello\n",
}
GIT = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with branches and a tag, and beside it other things that can be named."""
    top = tmp_path_factory.mktemp("completion")
    folder = write(top / "pool", FILES)
    (top / "build dir").mkdir()
    (top / "dump file.yaml").write_text("")
    for words in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["commit", "--quiet", "-m", "start"],
        ["branch", "topic/one"],
        ["tag", "v1.0"],
    ):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    return folder


def offered(words: Sequence[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """What is offered for the last word, with how it is to be taken where that is not plain."""
    how, *lines = told(["zsh", *words], environ or {}).splitlines()
    return [*([] if how == "words" else [f"<{how}>"]), *(line.split("\t")[0] for line in lines)]


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["exp"], ["explain"]),
        (["import", ""], ["condor", "wallaby"]),
        (["--co"], ["--color"]),
        (["--color", ""], ["always", "auto", "never"]),
        (["--color=a"], ["--color=always", "--color=auto"]),
        (["--color", "never", "-C", ".", "exp"], ["explain"]),
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
        (["check", "--at", ""], ["HEAD", "main", "topic/one", "v1.0"]),
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


ROWS = {
    "gitcfg exp\t": ["explain"],
    "gitcfg explain exec\t": ["explain", "exec07.example.org"],
    "gitcfg explain exec07.example.org CONDOR\t": ["explain", "exec07.example.org", "CONDOR_HOST"],
    "gitcfg explain exec07.example.org condor\t": ["explain", "exec07.example.org", "CONDOR_HOST"],
    "gitcfg render @Big\t": ["render", "@Big memory workers"],
    "gitcfg render @Big\\ m\t": ["render", "@Big memory workers"],
    'gitcfg render "@Big m\t': ["render", "@Big memory workers"],
    "gitcfg render '@Big m\t": ["render", "@Big memory workers"],
    "gitcfg render exec07.example.org,gp\t": ["render", "exec07.example.org,gpu01.example.org"],
    "gitcfg show group 'Cen\t": ["show", "group", "Central managers"],
    "gitcfg explain --group=Cen\t": ["explain", "--group=Central managers"],
    'gitcfg explain --group="Central m\t': ["explain", "--group=Central managers"],
    "gitcfg check --sta\t": ["check", "--staged"],
    "gitcfg check -o y\t": ["check", "-o", "yaml"],
    "gitcfg check --at=to\t": ["check", "--at=topic/one"],
    "gitcfg check --at to\t": ["check", "--at", "topic/one"],
    "gitcfg diff main..to\t": ["diff", "main..topic/one"],
    "gitcfg render --file /etc/mo\t": ["render", "--file", "/etc/motd"],
    "gitcfg render --out=../build\t": ["render", "--out=../build dir"],
    "gitcfg -C ../po\t": ["-C", "../pool"],
    "gitcfg import wallaby ../dump\t": ["import", "wallaby", "../dump file.yaml"],
    "true; gitcfg exp\t": ["explain"],
}


@shells.each
def test_a_tab_writes_what_the_program_understands(shell: str, pool: Path, tmp_path: Path) -> None:
    with Shell(shell, tmp_path, pool) as interactive:
        called = {typed: interactive.called(typed) for typed in ROWS}
    # zsh takes the slash behind a folder away again when the line is sent off.
    assert {typed: [word.removesuffix("/") for word in words] for typed, words in called.items()} == ROWS


@shells.each
def test_candidates_are_listed(shell: str, pool: Path, tmp_path: Path) -> None:
    with Shell(shell, tmp_path, pool) as interactive:
        assert "mpi3.example.org" in interactive.listed("gitcfg explain mpi\t\t\t", r"mpi3\.example\.org")
        shown = interactive.listed("gitcfg check --\t\t", r"--staged")
        assert "--folded" in shown
        if shell != "bash":
            interactive.listed("gitcfg check --\t\t", r"The index instead of the work tree")


@shells.each
def test_the_script_can_be_a_file(shell: str, pool: Path, tmp_path: Path) -> None:
    environment = shells.environment(tmp_path)
    place = {
        "bash": "home/.local/share/bash-completion/completions/gitcfg",
        "zsh": "home/functions/_gitcfg",
        "fish": "home/.config/fish/completions/gitcfg.fish",
    }[shell]
    script = subprocess.run(
        ["gitcfg", "completion", shell], env=environment, capture_output=True, text=True, check=True
    ).stdout
    write(tmp_path, {place: script})
    assert "eval" in script or "source" in script
    fpath = (tmp_path / place).parent
    begun = {
        "bash": f". '{tmp_path / place}'; PS1='rea''dy> '",
        "zsh": f"fpath=('{fpath}' $fpath); autoload -Uz compinit; compinit -u -D; PS1='rea''dy> '",
        "fish": "function fish_prompt; echo -n 'rea''dy> '; end",
    }[shell]
    with Shell(shell, tmp_path, pool, begun) as interactive:
        assert interactive.called("gitcfg exp\t") == ["explain"]
        assert interactive.called("gitcfg render @Big\t") == ["render", "@Big memory workers"]


HOSTILE = (
    "$(touch pwned)",
    "`touch pwned`",
    "x;touch pwned",
    "x\n touch pwned",
    "x|touch pwned",
    "\x1b[31mred",
    "\x9b31mred",
    "\u202egnp.txt",
    "'quote",
    '"quote',
    "-o",
    "~root",
    "*",
    "!!",
    "back\\slash",
    "tab\ttouch pwned",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of names that a shell or a terminal would obey, with a good one of each kind."""
    folder = tmp_path_factory.mktemp("hostile") / "pool"
    documents = {"good": "{}\n"} | dict.fromkeys(HOSTILE, "{}\n")
    files = {
        f"{kind}/{name}.yaml": text
        for kind in ("groups", "nodes", "overrides")
        for name, text in documents.items()
    }
    files |= {f"templates/{name}": text for name, text in documents.items()}
    keys = json.dumps({key: {} for key in ("GOOD", *HOSTILE)})
    files["parameters/p.yaml"] = f'{{"parameters": {keys}}}'
    files["features/good.yaml"] = f'{{"files": {json.dumps({f"/{name}": {} for name in documents})}}}'
    for number, name in enumerate(HOSTILE):
        files[f"nodesets/s{number}.yaml"] = json.dumps({"nodes": f"{name}[1-3]"})
    write(folder, {"gitcfg.yaml": "format: 1\n"} | files)
    for words in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "start"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    packed = subprocess.run(
        [*GIT, "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    for name in (
        "good",
        "$(touch${IFS}pwned)",
        "`touch${IFS}pwned`",
        "x;touch${IFS}pwned",
        "x|y",
        "'q",
        '"q',
        "!!",
    ):
        subprocess.run(
            [*GIT, "update-ref", f"refs/heads/{name}", packed.stdout.strip()], cwd=folder, check=True
        )
    return folder


PLACES = {
    "render @": "@good",
    "explain ": "good",
    "explain good ": "GOOD",
    "render --file ": "/good",
    "explain good --group ": "good",
    "check --at=g": "--at=good",
    "show override ": "good",
    "show template ": "good",
}


@pytest.mark.parametrize("place", PLACES)
def test_only_legal_names_are_offered(place: str, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    assert offered(place.split(" ")) == [PLACES[place]]
    for name in HOSTILE:
        found = offered([*place.split(" ")[:-1], name])
        assert found == [] or found[0].startswith("-")


def test_branches_that_a_shell_would_run_are_not_offered(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    assert offered(["check", "--at", ""]) == ["HEAD", "good", "main"]


@shells.each
def test_no_name_runs_or_paints(shell: str, hostile: Path, tmp_path: Path) -> None:
    with Shell(shell, tmp_path, hostile) as interactive:
        for place, only in PLACES.items():
            assert interactive.called(f"gitcfg {place}\t") == [*place.split(" ")[:-1], only]
        for typed in ("'$(touch pwned)", "'`touch pwned`", "\\`touch\\ pwned\\`"):
            interactive.given_up(f"gitcfg explain {typed}\t\t")
        assert "gnp.txt" not in interactive.terminal.seen
        assert "red" not in interactive.terminal.seen
    assert [path for top in (hostile, tmp_path) for path in top.rglob("pwned")] == []


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


@given(st.sets(st.text("ab1", min_size=1, max_size=9), max_size=30), st.text("ab1", max_size=2))
def test_few_names_are_all_told(names: set[str], prefix: str) -> None:
    assert few(names, prefix) == (sorted(name for name in names if name.startswith(prefix)), True)


def test_beginnings_cover_every_name() -> None:
    names = {f"{a}{b:03}" for a in ("x", "yy", "zebra", "Z") for b in range(800)} | {"y"}
    stems, whole = few(names, "")
    assert not whole
    assert 2 <= len(stems) <= 100
    assert all(any(name.startswith(stem) for stem in stems) for name in names)
    assert few({"START", "start2"}, "sta") == (["start2"], True)
    assert few({"START"}, "sta") == (["START"], True)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), max_size=12)


@given(TEXTS, st.sampled_from(["", "'", '"']))
def test_what_is_quoted_means_itself(text: str, quote: str) -> None:
    line = quote + quoted(text, quote)
    assert unquoted(line) == text
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
    words = [quote + quoted(text, quote) + quote for text in texts for quote in ("'", '"')]
    words += [quoted(text, "") for text in texts if text]
    line = "printf '%s\\0' " + " ".join(words)
    read = (
        subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    )
    assert read == [*(text for text in texts for _ in range(2)), *(text for text in texts if text)]


@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["che"], ["yaml"]),
        (["check", "--"], ["yaml"]),
        (["explain", "e"], []),
        (["explain", "e", "S"], []),
        (["check", "--at", ""], ["yaml"]),
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
