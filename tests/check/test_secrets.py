"""What is written in plain where a secret belongs is told by nothing, and what secrets cost is bounded."""

import subprocess
from pathlib import Path

import pytest

from gitcfg.check.run import check
from gitcfg.check.secrets import markers
from gitcfg.cli.main import run
from gitcfg.compile.fleet import compile_tree
from gitcfg.git.tree import DictTree
from tests.compile.fleets import TODAY

CANARY = "hunter2-correct-horse"
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": (
        "parameters:\n"
        f"  A: {{type: string, description: d, secret: true, default: {CANARY}-0}}\n"
        "  B: {type: integer, description: d, secret: true, schema: {minimum: 5}}\n"
        "  C: {description: d, secret: true}\n"
        "  'D_*': {type: list, description: d, secret: true, separator: comma}\n"
    ),
    "features/F.yaml": f"params: {{'D_${{as}}': '${{with.x}},{CANARY}-1', A: {CANARY}-2, ODD: odd}}\n",
    "groups/g.yaml": (
        "features: [{feature: F, as: n, with: {x: y}}]\n"
        f"params: {{B: {CANARY}-4, C: {{$append: {CANARY}-5}}}}\n"
        "files:\n"
        "  /etc/a: {format: json, params: ['*']}\n"
        "  /etc/b: {format: condor, params: ['*']}\n"
        "  /etc/c: {template: t.j2}\n"
    ),
    "templates/t.j2": "{% for name in params %}{{ params[name] }}\n{% endfor %}{{ params.A + 1 }}\n",
    "nodes/n1.yaml": f"groups: [g]\nparams: {{C: {{$default: {CANARY}-6}}}}\n",
}


def test_no_finding_says_what_should_be_secret() -> None:
    findings = check(compile_tree(DictTree(FILES), TODAY))
    assert {"GC201", "GC206", "GC208"} <= {finding.code for finding in findings}
    assert CANARY not in repr(findings)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--no-parsers"],
        ["check", "-o", "json"],
        ["check", "-o", "sarif"],
        ["explain", "n1"],
        ["explain", "n1", "A"],
        ["explain", "n1", "B", "--all", "-o", "json"],
        ["explain", "n1", "D_n", "--blame"],
        ["values", "A"],
        ["render", "n1", "--params"],
        ["render", "n1", "-o", "json"],
        ["diff", "HEAD~1"],
        ["diff", "HEAD~1", "--files", "-o", "json"],
        ["diff", "HEAD~1", "-o", "markdown"],
        ["log", "n1"],
        ["show", "parameter", "A"],
        ["show", "parameter", "D_*", "-o", "json"],
        ["show", "parameters"],
        ["show", "group", "g"],
        ["show", "feature", "F", "-o", "json"],
        ["search", "correct"],
        ["search", "e", "-o", "json"],
        ["export", "docs"],
    ],
    ids=" ".join,
)
def test_no_command_says_it(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _commit(tmp_path, {**FILES, "groups/g.yaml": "{}\n"})
    _commit(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    run(words)
    told = capfd.readouterr()
    assert told.out or told.err
    assert "Usage" not in told.err
    assert CANARY not in told.out + told.err


def _commit(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    for said in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "m"]):
        subprocess.run(["git", *who, *said], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN A A A PRIVATE KEY-----\nA: b\n", "ENC["],
)
def test_megabytes_of_beginnings_hold_nothing(piece: str) -> None:
    """They are looked at in time that grows as they do: with a quadratic search this does not end."""
    text = piece * ((4 << 20) // len(piece) - 1)
    tree = DictTree({"gitcfg.yaml": "format: 1\n", "files/x": text, "templates/y": "{# " + text[: 1 << 21]})
    assert list(markers(compile_tree(tree, TODAY))) == []
