"""Lines that fit the terminal: pieces stay whole where they can, and nothing is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from gitcfg.cli.trails import fill, items, phrases, words
from tests.cli.terminals import Terminal, plain

TEXTS = st.text("ab ,<[]1-é漢", max_size=60)


def filled(width: int, indent: int, *pieces: list[Text]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        return fill(indent, *pieces).plain


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (40, "set one, two at groups/a b.yaml:1:2"),
        (30, "set one, two\n  at groups/a b.yaml:1:2"),
        (11, "set\n  one, two\n  at groups/a b.yaml:1:2"),
        (9, "set\n  one,\n  two\n  at groups/a b.yaml:1:2"),
    ],
)
def test_a_piece_that_does_not_fit_begins_a_line_and_then_breaks(width: int, expected: str) -> None:
    assert (
        filled(width, 2, [Text("set")], phrases(" one, two"), [Text(" at groups/a b.yaml:1:2")]) == expected
    )


def test_node_sets_break_between_their_nodes_only() -> None:
    assert filled(12, 2, items("exec[1,3-4].x,gpu[1-2].x")) == "exec[1,3-4].x,\n  gpu[1-2].x"


@given(TEXTS, TEXTS, TEXTS, st.integers(8, 60), st.integers(0, 6))
def test_nothing_is_lost_and_only_what_cannot_break_is_too_long(
    first: str, second: str, third: str, width: int, indent: int
) -> None:
    pieces = [words(first), phrases(second), items(third)]
    text = filled(width, indent, *pieces)
    assert text.replace("\n", "").replace(" ", "") == (first + second + third).replace(" ", "")
    longest = max((cell_len(part.plain.rstrip(" ")) for piece in pieces for part in piece), default=0)
    for number, line in enumerate(text.split("\n")):
        assert cell_len(line) <= max(indent + longest, width)
        assert number == 0 or line.startswith(" " * indent)


# A fully qualified name in a terminal of 100 columns.

NODE = "exec001.pool.example.com"
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/condor.yaml": (
        "parameters:\n"
        '  START: {description: When jobs may start., type: expression, default: "TRUE"}\n'
        "  DAEMON_LIST: {description: The daemons that run., type: list, separator: comma}\n"
        "  CREDD_HOST: {description: Where credentials are., type: string}\n"
    ),
    "features/htcondor/ExecuteNode.yaml": "params: {START: null, DAEMON_LIST: [MASTER, STARTD]}\n",
    "features/htcondor/HealthCheck.yaml": (
        "include: [ExecuteNode]\nparams: {START: {$and: NodeHealthy =!= FALSE}}\n"
        'files: {/etc/condor/config.d/50-health-check.config: {format: condor, params: ["*"]}}\n'
    ),
    "features/htcondor/CredentialDaemon.yaml": "params: {CREDD_HOST: credd.pool.example.com}\n",
    "groups/Workers of the pool.yaml": (
        'features: [HealthCheck]\nparams: {START: {$and: \'Owner =!= "eve" && Owner =!= "mallory"\'}}\n'
    ),
    "groups/Central managers.yaml": "features: [CredentialDaemon]\n",
    "nodesets/exec.yaml": "nodes: exec[001-900].pool.example.com\ngroups: [Workers of the pool]\n",
    "nodesets/cm.yaml": "nodes: cm[1-2].pool.example.com\ngroups: [Central managers]\n",
    "overrides/memory.yaml": (
        f'nodes: {NODE}\nreason: memory\nuntil: 2026-02-20\nparams: {{START: {{$and: "FALSE"}}}}\n'
    ),
}
ASKED = [
    [NODE],
    [NODE, "--blame"],
    [NODE, "START", "DAEMON_LIST", "--all", "--blame"],
    [NODE, "CREDD_HOST"],
    [NODE, "--feature", "ExecuteNode", "--file", "/etc/condor/config.d/50-health-check.config"],
    [NODE, "--group", "Workers of the pool", "--feature", "CredentialDaemon", "--blame"],
    [NODE, "--why-not", "CREDD_HOST", "--why-not", "START=TRUE", "--why-not", "CredentialDaemon"],
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: "-".join(asked[1:]).replace("/", "."))
def test_explanations_fit_100_columns(asked: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": ":".join(filter(None, sys.path)),
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "GITCFG_PAGER": "",
        "GITCFG_TODAY": "2026-02-01",
    }
    who = ["-c", "user.name=Ada Byron", "-c", "user.email=ada@example.org"]
    for words_ in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "Start from the pack of HTCondor"]):
        subprocess.run(["git", *words_], cwd=folder, check=True, env=environment)
    command = [sys.executable, "-m", "gitcfg", "explain", *asked]
    with Terminal(command, environment, folder) as terminal:
        assert terminal.end() == 0
        lines = plain(terminal.seen).splitlines()
    assert len(lines) > 1
    assert [line for line in lines if cell_len(line) > 100] == []
