"""Completion in real shells: what a tab writes, and that no name runs or paints anything."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli import shells
from tests.cli.completing import GIT, offered, pool_in, write
from tests.cli.shells import Shell


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pool_in(tmp_path_factory.mktemp("completion"))


ROWS = {
    "gitcfg expl\t": ["explain"],
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
    "gitcfg snapshot show 20\t": ["snapshot", "show", "2026/spring"],
    "gitcfg undo --ours gr\tCen\t": ["undo", "--ours", "group/Central managers"],
    "gitcfg undo --ours 'group/Big memory workers:RA\t": ["undo", "--ours", "group/Big memory workers:RANK"],
    "gitcfg undo --theirs=feature/GpuNode:i\t": ["undo", "--theirs=feature/GpuNode:include"],
    "gitcfg delete group Cen\t": ["delete", "group", "Central managers"],
    "true; gitcfg expl\t": ["explain"],
}


@pytest.mark.slow
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
            interactive.listed("gitcfg check --\t\t", r"Check the index, not the work tree")


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
        assert interactive.called("gitcfg expl\t") == ["explain"]
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
    "delete group ": "good",
    "undo --ours group/": "group/good",
}


@pytest.mark.slow
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


@pytest.mark.slow
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
