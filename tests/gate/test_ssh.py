"""Pushes over SSH are judged like all others."""

import subprocess
from pathlib import Path

import pytest

from tests.gate.server import ENVIRONMENT, Server, answer, commit
from tests.gate.sshd import PROGRAM, serving
from tests.gate.test_server import POOL, WRONG


@pytest.mark.skipif(PROGRAM is None, reason="there is no sshd")
def test_a_push_over_ssh(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    desk = server.desk("desk", POOL)
    with serving(tmp_path) as (host, command):
        words = ["git", "-C", str(desk), "push", "--quiet", f"{host}{server.folder}", "main"]
        environment = ENVIRONMENT | {"HOME": str(tmp_path), "GIT_SSH_COMMAND": command}
        said = []
        for _ in range(2):
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            said.append(answer(done.returncode, done.stderr))
            commit(desk, WRONG["a value"], "Wrong")
    assert [push.taken for push in said] == [True, False]
    assert said[0].said[0] == "3 nodes in all."
    assert said[1].said[0] == "error[GC206] P is an integer, not 'x'."
