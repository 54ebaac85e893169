"""`gitcfg deploy` to nodes that are folders of this machine: real far ends, without a network between."""

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.deploy import run as conduct
from gitcfg.cli.deploy.output import Listeners
from gitcfg.cli.main import run
from gitcfg.deploy.network import ConnectError
from gitcfg.deploy.outcomes import Outcome
from tests.cli.published import judge
from tests.deploy.process import Process

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/F.yaml": "description: f\nfiles: {/etc/f: {text: one}}\n",
    "nodesets/n.yaml": "nodes: n[1-3]\nfeatures: [F]\n",
    "nodes/old.yaml": "features: [F]\nstate: retired\n",
}
ROOT = "/the-root-of-a-node"
NETWORK = conduct._network


class NodeConnection:
    """A connection to a folder."""

    user = "root"

    def __init__(self, root: Path) -> None:
        self._root = root
        self.lines: list[Any] = []

    def line(self, command: str, deadline: float) -> Any:
        self.lines.append(Process(command.replace(ROOT, str(self._root))))
        return self.lines[-1]

    def cut(self) -> None:
        raise AssertionError


class Network:
    """Nodes by name, each a folder; what has none cannot be reached. `seen` is who was tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[str] = []

    @contextmanager
    def open(self, node: str) -> Iterator[NodeConnection]:
        self.seen.append(node)
        if not (self.folder / node).is_dir():
            raise ConnectError(Outcome.UNREACHABLE, "It does not answer: connection refused.")
        opened = NodeConnection(self.folder / node)
        try:
            yield opened
        finally:
            for line in opened.lines:
                line.close()
                line.process.wait(30)

    def close(self) -> None:
        pass


class Pool:
    """A repository, and its nodes."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.work = folder / "pool"
        self.network = Network(folder / "nodes")
        self._capfd = capfd
        for name in ("n1", "n2", "n3", "old"):
            (self.network.folder / name).mkdir(parents=True)
        self.work.mkdir()
        self.git("init", "--quiet")
        self.change(FILES)

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
        line = ["git", *who, *words]
        return subprocess.run(line, cwd=self.work, check=True, capture_output=True, text=True).stdout.strip()

    def change(self, files: dict[str, str]) -> str:
        for path, text in files.items():
            (self.work / path).parent.mkdir(exist_ok=True)
            (self.work / path).write_text(text)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "a change")
        return self.git("rev-parse", "HEAD")

    def call(self, *words: str, code: int = 0) -> tuple[str, str]:
        """What a command says on stdout and stderr."""
        assert run(words) == code
        found = self._capfd.readouterr()
        return found.out, found.err

    def deploy(self, *words: str, code: int = 0) -> tuple[str, str]:
        return self.call("deploy", "--root", ROOT, "--yes", *words, code=code)

    def outcomes(self, *words: str, code: int = 0) -> dict[str, str]:
        out, _ = self.deploy("-o", "json", *words, code=code)
        judge(out, "json")
        return {one["node"]: one["outcome"] for one in json.loads(out)["nodes"]}

    def file(self, node: str) -> str | None:
        place = self.network.folder / node / "etc/f"
        return place.read_text() if place.exists() else None


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Pool:
    for name in ("GITCFG_REPO", "GITCFG_DATABASE", "GITCFG_STATE", "GITCFG_SERVER", "GITCFG_IDENTITY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITCFG_TODAY", "2026-01-01")
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Pool(tmp_path, capfd)
    monkeypatch.chdir(made.work)
    monkeypatch.setattr(conduct, "_network", lambda *said: made.network)
    return made


def test_nodes_get_what_was_reviewed_last(pool: Pool) -> None:
    out, err = pool.deploy()
    assert out == "ok 3 nodes: n[1-3]\n  1 file written\n"
    head = pool.git("rev-parse", "--short=10", "HEAD")
    assert "note: 1 retired node left out: old." in err
    assert f"3 nodes: 3 ok. Commit {head}, " in err
    assert [pool.file(name) for name in ("n1", "n2", "n3", "old")] == ["one", "one", "one", None]
    assert pool.outcomes() == dict.fromkeys(("n1", "n2", "n3"), "unchanged")


def test_only_the_nodes_that_are_named(pool: Pool) -> None:
    assert pool.outcomes("n2") == {"n2": "ok"}
    assert pool.outcomes("--where", "node.name == 'n3'") == {"n3": "ok"}
    assert pool.network.seen == ["n2", "n3"]


def test_a_dry_run_shows_what_differs_and_touches_nothing(pool: Pool) -> None:
    pool.deploy("n1")
    pool.change({"features/F.yaml": "description: f\nfiles: {/etc/f: {text: two}}\n"})
    out, _ = pool.deploy("--dry-run", code=1)
    assert "differs 2 nodes: n[2-3]\n  would be: 1 file written\n  /etc/f\n" in out
    assert "differs 1 node: n1\n" in out
    assert "  -one\n" in out
    assert out.count("  +two\n") == 2
    assert [pool.file(name) for name in ("n1", "n2")] == ["one", None]
    found = json.loads(pool.deploy("--dry-run", "-o", "json", "n1", code=1)[0])
    assert (found["dry"], found["run"]) == (True, None)
    (node,) = found["nodes"]
    assert node["commit"] == node["before"] != found["target"]


def test_lines_of_json_while_it_runs(pool: Pool) -> None:
    out, err = pool.deploy("-o", "jsonl")
    judge(out, "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert sorted(line["node"] for line in lines) == ["n1", "n2", "n3"]
    assert err.splitlines()[-1].startswith("3 nodes: 3 ok. Commit ")
    assert {line["run"] for line in lines} != {None}


def test_where_nobody_reads_the_lines_any_more_nobody_else_is_begun(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", gone)
        patch.setattr(os, "dup2", lambda *files: None)
        assert run(("deploy", "--root", ROOT, "--yes", "-o", "jsonl", "--jobs", "1")) == 141
        with contextlib.suppress(BrokenPipeError):
            gone.close()
    (found,) = json.loads(pool.call("deploys", "-o", "json")[0])["deploys"]
    assert len(pool.network.seen) < 3
    assert (found["ended"], found["because"]) == ("output", "The reader of the JSON lines is gone.")


def test_where_the_lines_have_no_room_those_at_work_finish_and_are_recorded(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        assert run(("deploy", "--root", ROOT, "--yes", "-o", "jsonl", "--jobs", "1")) == 2
        with contextlib.suppress(OSError):
            full.close()
    out, _ = pool.call("deploys", "-o", "json")
    judge(out, "json")
    (found,) = json.loads(out)["deploys"]
    because = "Cannot write the JSON lines: No space left on device."
    assert (found["ended"], found["because"]) == ("output", because)
    assert f"because: {because}\n" in pool.call("deploys", "last")[0]
    assert found["counts"] == {"skipped": 2, "ok": 1} or found["counts"] == {"skipped": 1, "ok": 2}


def test_where_the_summary_has_no_room_it_is_said_where_else_it_stands(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        patch.setattr(os, "dup2", lambda *files: None)
        assert run(("deploy", "--root", ROOT, "--yes", "-o", "json")) == 2
        with contextlib.suppress(OSError):
            full.close()
    err = pool.call("deploys", "last")[1]
    assert "error: Cannot write the output: No space left on device.\n" in err
    assert "hint: Run `gitcfg deploys last` to see what was done.\n" in err


def test_a_deploy_to_nobody_does_not_hide_the_last_one(pool: Pool) -> None:
    first = json.loads(pool.deploy("-o", "json")[0])
    out, _ = pool.deploy("-o", "json", "--where", "node.name == 'nobody'")
    judge(out, "json")
    assert json.loads(out)["run"] is None
    (found,) = json.loads(pool.call("deploys", "-o", "json")[0])["deploys"]
    assert found["run"] == first["run"]


def test_what_goes_wrong_is_told_with_its_nodes(pool: Pool) -> None:
    (pool.network.folder / "n2").rmdir()
    (pool.network.folder / "n3").rmdir()
    out, err = pool.deploy(code=3)
    assert "unreachable 2 nodes: n[2-3]\n  It does not answer: connection refused.\n" in out
    assert "n2 unreachable: It does not answer" in err
    found = json.loads(pool.deploy("-o", "json", code=3)[0])
    assert found["counts"] == {"unchanged": 1, "unreachable": 2}


def test_a_run_is_gone_on_with(pool: Pool) -> None:
    (pool.network.folder / "n2").rmdir()
    first = json.loads(pool.deploy("-o", "json", code=3)[0])
    pool.change({"features/F.yaml": "description: f\nfiles: {/etc/f: {text: two}}\n"})
    (pool.network.folder / "n2").mkdir()
    again = json.loads(pool.deploy("-o", "json", "--resume", "last")[0])
    assert [one["node"] for one in again["nodes"]] == ["n2"]
    assert again["target"] == first["target"]
    assert pool.file("n2") == "one"
    assert pool.outcomes("--resume", first["run"]) == {"n2": "unchanged"}
    assert pool.outcomes("--resume", again["run"]) == {}


def test_batches_and_limits(pool: Pool) -> None:
    for name in ("n1", "n2", "n3"):
        (pool.network.folder / name).rmdir()
    found = json.loads(pool.deploy("-o", "json", "--max-unreachable", "0", "--jobs", "1", code=3)[0])
    assert found["counts"] == {"unreachable": 1, "skipped": 2}
    assert found["ended"] == "limit"
    assert found["because"] == "1 node could not be reached, the limit is 0."
    found = json.loads(pool.deploy("-o", "json", "--batch", "2", code=3)[0])
    assert found["because"] == "Batch 1 proves nothing: 2 nodes could not be reached."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--batch", "0"), "--batch: 0 is not a number of nodes."),
        (("--batch", "101%"), "--batch: 101% is not a number of nodes."),
        (("--batch", "1,x"), "--batch: x is not a number of nodes."),
        (("--batch", "10%,5%"), "--batch: 5% is not larger than 10% before it."),
        (("--max-failures", "-1"), "--max-failures: -1 is not a number of nodes."),
        (("--max-failures", "1.5"), "--max-failures: 1.5 is not a whole number of nodes."),
        (("--timeout", "0s"), "--timeout: 0s is not a duration."),
        (("--root", "tmp"), "--root must be an absolute path, and tmp is not one."),
        (("--state-dir", "/a/../b"), "--state-dir must be an absolute path, and /a/../b is not one."),
        (("--user", ""), "--user is empty."),
        (("--ssh-config", ""), "--ssh-config is empty."),
        (("--root", ""), "--root is empty."),
        (("--state-dir", ""), "--state-dir is empty."),
        (("--at", ""), "--at is empty."),
        (("--where", ""), "--where is empty."),
        (("--resume", ""), "--resume is empty."),
        (("--identity", ""), "--identity is empty."),
        (("",), "An argument for nodes is empty."),
        (("--batch", ""), "--batch is empty."),
        (("--max-failures", ""), "--max-failures is empty."),
        (("--timeout", ""), "--timeout is empty."),
        (("--no-sudo", "--ask-sudo"), "--no-sudo and --ask-sudo cannot be used together."),
        (("--unreviewed",), "--unreviewed needs a reason."),
        (("--reason", "x"), "--reason needs --unreviewed."),
        (("--unreviewed", "--reason", " "), "--reason is empty."),
        (("--server", ""), "--server is empty."),
        (("--resume", "last", "n1"), "--resume continues with the nodes and the commit of a run."),
        (("--resume", "last"), "There is no deploy from this repository yet."),
        (("--resume", "none"), "There is no deploy none."),
        (("--at", "none"), "There is no revision none."),
        (("none",), "There is no node none."),
    ],
)
def test_what_cannot_be_meant_is_refused(pool: Pool, words: tuple[str, ...], message: str) -> None:
    _, err = pool.deploy(*words, code=2)
    assert err.startswith(f"error: {message}\n")
    assert pool.network.seen == []


def test_who_is_not_asked_has_to_say_yes(pool: Pool) -> None:
    _, err = pool.call("deploy", "--root", ROOT, code=2)
    assert err.splitlines()[-2] == ("error: `gitcfg deploy` asks for confirmation, but there is no terminal.")
    assert pool.network.seen == []


def test_a_commit_that_nobody_reviewed_needs_a_reason(pool: Pool) -> None:
    pool.git("checkout", "--quiet", "-b", "mine")
    mine = pool.change({"features/F.yaml": "description: f\nfiles: {/etc/f: {text: mine}}\n"})
    _, err = pool.deploy("--at", "mine", "n1", code=4)
    assert err.startswith(f"error: {mine[:10]} is not on main, so it was not reviewed.\n")
    assert pool.network.seen == []
    found = json.loads(
        pool.deploy("--at", "mine", "n1", "-o", "json", "--unreviewed", "--reason", "it burns")[0]
    )
    assert (found["target"], found["reason"]) == (mine, "it burns")
    assert pool.file("n1") == "mine"
    assert pool.outcomes("n1") == {"n1": "ok"}
    assert pool.file("n1") == "one"


def test_a_branch_that_was_not_fetched_for_long_is_noted(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    pool.git("clone", "--quiet", str(pool.work), str(clone))
    monkeypatch.chdir(clone)
    note = "note: origin/main was fetched 2 d ago; `git fetch` gets what was reviewed since then.\n"
    assert note not in pool.deploy("n1")[1]
    long_ago = time.time() - 2 * 86400 - 60
    for file in (clone / ".git/packed-refs", clone / ".git/refs/remotes/origin/main"):
        if file.is_file():
            os.utime(file, (long_ago, long_ago))
    assert note in pool.deploy("n1")[1]
    assert note not in pool.deploy("n1", "--at", "origin/main")[1]
    subprocess.run(["git", "fetch", "--quiet"], cwd=clone, check=True)
    assert note not in pool.deploy("n1")[1]


def test_errors_that_concern_the_nodes_are_in_the_way(pool: Pool) -> None:
    wrong = "description: w\nfiles: {/etc/w: {template: none.j2}}\n"
    pool.change({"features/W.yaml": wrong, "nodes/n9.yaml": "features: [W]\n"})
    (pool.network.folder / "n9").mkdir()
    assert pool.outcomes("n1") == {"n1": "ok"}
    _, err = pool.deploy("n9", code=4)
    assert "error: 1 error concerns these nodes, so nothing is deployed.\n" in err
    assert pool.network.seen == ["n1"]


def test_holds_are_obeyed(pool: Pool) -> None:
    first = pool.git("rev-parse", "HEAD")
    hold = f"nodes: n1\ncommit: {first}\nuntil: 2999-01-01\nreason: look\n"
    pool.change({"holds/look.yaml": hold})
    out, _ = pool.deploy(code=4)
    assert f"refused 1 node: n1\n  The hold look keeps it at {first[:10]} until 2999-01-01: look.\n" in out
    assert pool.outcomes("n1", "--at", first) == {"n1": "ok"}


def test_a_node_with_an_agent_is_left_alone(pool: Pool) -> None:
    settings = pool.network.folder / "n1/etc/gitcfg/agent.toml"
    settings.parent.mkdir(parents=True)
    settings.touch()
    out, _ = pool.deploy("--batch", "1", "n1", code=4)
    assert out.startswith("refused 1 node: n1\n  An agent manages this node and would revert the deploy.")
    assert pool.file("n1") is None


def test_a_server_that_does_not_answer_is_in_nobodys_way(pool: Pool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server = f"http://127.0.0.1:{taken.getsockname()[1]}"
        out, err = pool.deploy("n1", "--server", server)
    assert out.startswith("ok 1 node: n1\n")
    assert f"note: {server} does not answer: connection refused. Each node is asked" in err
    assert "`gitcfg deploys --send " in err


def test_a_fault_does_not_say_that_nothing_was_changed(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fails(node: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(pool.network, "open", fails)
    _, err = pool.deploy("n1", code=70)
    assert "error: Internal error in gitcfg; run `gitcfg deploys` to see what was done.\n" in err
    assert "n1 lost: gitcfg itself failed at this node.\n" in err
    assert "interrupted" not in err
    assert "Ctrl-C" not in err
    out, _ = pool.call("deploys", "-o", "json")
    judge(out, "json")
    (found,) = json.loads(out)["deploys"]
    because = "gitcfg itself failed: ZeroDivisionError."
    assert (found["ended"], found["because"], found["counts"]) == ("fault", because, {"lost": 1})


def test_a_fault_beside_the_nodes_is_recorded_too(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fails(self: Listeners, node: str, batch: int) -> None:
        raise ZeroDivisionError("what it says")

    with monkeypatch.context() as patch:
        patch.setattr(Listeners, "began", fails)
        pool.deploy("n1", code=70)
    out, _ = pool.call("deploys", "last")
    assert "what it says" not in out
    assert "because: gitcfg itself failed: ZeroDivisionError.\n" in out
    assert "unknown 1 node: n1\n" in out
    assert pool.outcomes("--resume", "last") == {"n1": "ok"}


def test_a_configuration_of_ssh_may_not_be_there(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct, "_network", NETWORK)
    _, err = pool.deploy("--ssh-config", "none", code=2)
    assert "error: The file none does not exist.\n" in err


def test_a_retired_node_is_cleared_by_name(pool: Pool) -> None:
    pool.change({"nodes/n9.yaml": "features: [F]\n"})
    (pool.network.folder / "n9").mkdir()
    pool.deploy("n9")
    assert pool.file("n9") == "one"
    pool.change({"nodes/n9.yaml": "features: [F]\nstate: retired\n"})
    assert pool.outcomes("n9") == {"n9": "ok"}
    assert pool.file("n9") is None


def test_what_was_deployed_is_known_afterwards(pool: Pool) -> None:
    pool.deploy("n1")
    states = json.loads(pool.call("inventory", "-o", "json")[0])["nodes"]
    assert {one["name"]: one["state"] for one in states}["n1"] == "ok"
    assert "1 ok" in pool.call("deploys")[0]


def test_a_deploy_that_cannot_be_recorded_is_not_begun(pool: Pool) -> None:
    place = pool.work / ".git/gitcfg-deploys"
    place.parent.mkdir(exist_ok=True)
    place.write_text("in the way")
    _, err = pool.deploy(code=2)
    assert "error: Cannot record the deploy" in err
    assert pool.network.seen == []


def test_without_a_key_that_opens_their_secrets_nodes_are_not_touched(pool: Pool, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True)
    public = key.with_suffix(".pub").read_text().strip()
    content = tmp_path / "content"
    content.write_text("the-canary\n")
    words = ("--from", str(content), "--for", "true", "--recipient", public)
    pool.call("secret", "set", "door", *words)
    parameter = "parameters:\n  DOOR: {description: d, type: string, secret: true}\n"
    feature = "description: f\nparams: {DOOR: {$secret: door}}\n"
    feature += "files: {/etc/f: {template: f.j2}}\n"
    template = "door={{ params.DOOR }}\n"
    pool.change({"parameters/p.yaml": parameter, "features/F.yaml": feature, "templates/f.j2": template})
    _, err = pool.deploy("n1", code=2)
    assert err.startswith("error: No key here can decrypt the secret door.\n")
    assert pool.network.seen == []
    out, err = pool.deploy("n1", "--identity", str(key), "-o", "json")
    assert pool.file("n1") == "door=the-canary\n"
    assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
    dry = pool.deploy("n1", "n2", "--identity", str(key), "--dry-run", code=1)
    assert dry[0].startswith("unchanged 1 node: n1\ndiffers 1 node: n2\n")
    kept = "".join(file.read_text() for file in (pool.work / ".git/gitcfg-deploys").iterdir())
    assert not [text for text in (out, err, *dry, kept) if "the-canary" in text]
