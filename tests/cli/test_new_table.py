"""`gitcfg new --from`: hundreds of nodes out of a table, through `new`, `check` and `render`."""

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.main import run

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  RACK: {description: Its rack., type: string}\n"
    "  SERIAL: {description: Its serial number., type: string}\n",
    "features/Worker.yaml": "description: Works.\nparams: {RACK: {$fact: rack}, SERIAL: {$fact: serial}}\n"
    'files: {/etc/worker: {format: env, params: ["*"]}}\n',
    "groups/workers.yaml": "description: Workers.\nfeatures: [Worker]\n",
}
TABLE = "\ufeffname;rack;slot;serial\r\n" + "".join(
    f"exec{number:03d}.example.com;r{number // 20};{number % 20};{number:04d}\r\n" for number in range(300)
)


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in FILES.items():
        place = tmp_path / "pool" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (tmp_path / "nodes.csv").write_text(TABLE, newline="")
    root = tmp_path / "pool"
    monkeypatch.chdir(root)
    for words in (("init", "-q"), ("config", "user.name", "n"), ("config", "user.email", "n@example.com")):
        subprocess.run(["git", *words], check=True)
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", "First"], check=True)
    return root


def told(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capfd.readouterr()
    assert run(list(words)) == code
    out, err = capfd.readouterr()
    return out or err


@pytest.mark.parametrize("words", [("node",), ("nodeset", "exec")])
def test_a_table_becomes_nodes_that_render(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str], repository: Path
) -> None:
    created = told(capfd, "new", *words, "--from", "../nodes.csv", "--group", "workers", "--commit")
    many = "created 300 files: nodes/exec[000-299].example.com.yaml\n"
    assert created.startswith(many if words == ("node",) else "created nodesets/exec.yaml\n")
    assert told(capfd, "check").startswith("Nothing is wrong: 300 nodes,")
    rendered: Any = json.loads(told(capfd, "render", "exec042.example.com", "-o", "json"))
    assert rendered["nodes"]["exec042.example.com"]["params"] == {"RACK": "r2", "SERIAL": "0042"}
    values: Any = json.loads(told(capfd, "values", "RACK", "-o", "json"))
    assert len(values["values"]) == 15
    log = subprocess.run(["git", "log", "--format=%s"], capture_output=True, text=True, check=True).stdout
    assert len(log.splitlines()) == 2
    status = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_a_node_set_from_stdin_and_a_change_of_one_entry(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    told(capfd, "new", "nodeset", "exec", "--from", "-", "--group", "workers", "--commit", "-m", "Add 300")
    told(capfd, "modify", "nodeset", "exec", "--node-fact", "exec042.example.com={slot: 2, serial: x}")
    diff: Any = json.loads(told(capfd, "diff", "-o", "json"))
    (change,) = diff["changes"]
    assert change["nodes"] == ["exec042.example.com"]
    trail: Any = json.loads(told(capfd, "explain", "exec042.example.com", "SERIAL", "-o", "json"))
    place = trail["params"]["SERIAL"]["steps"][0]["fact"]
    line = (repository / "nodesets/exec.yaml").read_text().splitlines()[place["line"] - 1]
    assert place["file"] == "nodesets/exec.yaml"
    assert line[place["column"] - 1 :].startswith("serial: x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("node", "n1", "--from", "../nodes.csv"), "--from has the names of the nodes."),
        (("node",), "`gitcfg new node` needs a name."),
        (("nodeset", "--from", "../nodes.csv"), "`gitcfg new nodeset` needs a name."),
        (("group", "g", "--from", "../nodes.csv"), "--from creates nodes or a node set."),
        (("node", "--from", "../none.csv"), "none.csv"),
        (("nodeset", "s", "--from", "../nodes.csv", "--field", "nodes=n1"), "--from cannot be combined with"),
        (("nodeset", "s", "--from", "../nodes.csv", "-m", "x"), "-m needs --commit."),
    ],
)
def test_wrong_usage(words: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert message in told(capfd, "new", *words, code=2)


def test_nothing_is_written_if_one_line_is_wrong(capfd: pytest.CaptureFixture[str], repository: Path) -> None:
    Path("../nodes.csv").write_text("name,groups\nn1,workers\nn2,wrkers\n")
    assert "GC201" in told(capfd, "new", "node", "--from", "../nodes.csv", code=1)
    assert not (repository / "nodes").exists()
