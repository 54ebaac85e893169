"""The library as interfaces.md shows it."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

import gitcfg
from gitcfg.model import GitcfgError

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {START: {description: When., type: expression}}\n",
    "groups/default.yaml": (
        "params: {START: TRUE}\nfiles: {/etc/condor/c: {format: condor, params: [START]}}\n"
    ),
    "nodes/n1.yaml": 'params: {START: {$and: Owner == "a"}}\n',
    "nodes/n2.yaml": "groups: []\n",
}


def test_a_fleet_is_a_mapping_of_nodes() -> None:
    with gitcfg.in_memory(FILES, date(2026, 1, 1)) as fleet:
        assert list(fleet) == ["n1", "n2"]
        assert len(fleet) == 2
        assert "n1" in fleet
        assert fleet.findings == ()
        node = fleet["n1"]
        assert node.params == {"START": 'TRUE && (Owner == "a")'}
        assert node.files == {"/etc/condor/c": 'START = TRUE && (Owner == "a")\n'}
        assert [step.op for step in node.explain("START")] == ["set", "and"]
        assert node.explain("START")[-1].result == node.params["START"]
        with pytest.raises(KeyError):
            fleet["n3"]


def test_digests_cover_what_is_installed() -> None:
    def digest(**changed: str) -> str:
        with gitcfg.in_memory(FILES | changed, date(2026, 1, 1)) as fleet:
            return fleet["n2"].digest

    base = digest()
    assert digest() == base
    assert digest(**{"nodes/n1.yaml": "{}\n"}) == base
    default = FILES["groups/default.yaml"]
    assert digest(**{"groups/default.yaml": default.replace("TRUE", "FALSE")}) != base
    assert digest(**{"groups/default.yaml": default.replace("[START]", '[START], mode: "0600"')}) != base
    assert digest(**{"subsystems/s.yaml": "subsystems: {x: {reload: [a]}}\n"}) != base


def test_open_and_at(tmp_path: Path) -> None:
    for path, text in FILES.items():
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)
    (tmp_path / "nodes/n3.yaml").write_text("{}\n")
    source = gitcfg.open(tmp_path)
    with source.at("HEAD") as old, source.worktree() as new, source.index() as staged:
        assert (len(old), len(new), len(staged)) == (2, 3, 2)
        assert old.commit is not None
        assert new.commit is None
        assert old["n1"].digest == new["n1"].digest
    with pytest.raises(GitcfgError):
        source.at("nothing")


def test_a_node_gone_without_being_retired_is_told_from_the_commit_before(tmp_path: Path) -> None:
    test_open_and_at(tmp_path)
    (tmp_path / "nodes/n1.yaml").unlink()
    (tmp_path / "nodes/n2.yaml").write_text("state: retired\n")
    with gitcfg.open(tmp_path).worktree() as fleet:
        assert {(f.code, f.subjects) for f in fleet.findings if f.code == "GC511"} == {("GC511", ("n1",))}


def test_the_version_is_told_without_importing_anything() -> None:
    code = "import sys, gitcfg.cli.main as m; sys.argv[1:] = ['--version']; m.main()"
    code += "; print(*sorted(set(sys.modules) & {'typer', 'rich', 'msgspec', 'pygit2', 'yaml', 'jinja2'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"gitcfg {gitcfg.__version__}\n\n"


def test_a_check_for_programs_loads_neither_rich_nor_what_it_does_not_use(tmp_path: Path) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    code = "import sys; from gitcfg.cli.main import run; code = run(sys.argv[1:])"
    code += "; print(code, *sorted(set(sys.modules) & {'rich', 'jinja2', 'jsonschema', 'cel_expr_python'}))"
    words = ["-C", str(tmp_path), "check", "-o", "json"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


def test_a_fleet_that_nobody_closes_leaves_neither_a_process_nor_a_folder(tmp_path: Path) -> None:
    code = "import gitcfg\n"
    code += "fleet = gitcfg.in_memory({'gitcfg.yaml': 'format: 1', 'nodes/n.yaml': '{}', 'templates/t': 'x',"
    code += " 'groups/default.yaml': 'files: {/etc/t: {template: t}}'})\n"
    code += (
        "print(fleet.findings, fleet['n'].files, len(__import__('os').listdir(__import__('sys').argv[1])))"
    )
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    words = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "() {'/etc/t': 'x'} 1\n"
    assert list(tmp_path.iterdir()) == []
