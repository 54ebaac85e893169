"""The gate on a real server: what it leaves as it was, and what nobody can do to it."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from random import Random

import pytest

from gitcfg.cache import FolderCache
from gitcfg.check.results import Checked, question
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Symlink
from tests.gate.server import ENVIRONMENT, Server, commit, git
from tests.seeds import mostly_slow
from tests.test_hostile import REPOSITORIES, Files
from tests.work.versions import first, next_of

POOL: Files = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {P: {type: integer, description: A number.}}\n",
    "groups/g.yaml": 'params: {P: 1}\nfiles: {/etc/p: {format: env, params: ["*"]}}\n',
    "nodesets/n.yaml": "nodes: n[1-3]\ngroups: [g]\n",
}


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "server")


def gitcfg(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gitcfg", "-C", str(folder), "--no-pager", *words],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT | {"HOME": str(folder)},
    )


WRONG: dict[str, Files] = {
    "a value": {"groups/g.yaml": "params: {P: x}\n"},
    "a name": {"nodesets/n.yaml": "nodes: n[1-3]\ngroups: [h]\n"},
    "no YAML": {"groups/g.yaml": "params: [\n"},
    "a format to come": {"gitcfg.yaml": "format: 2\n"},
    "settings": {"gitcfg.yaml": "format: 1\nprotected: []\n", "groups/g.yaml": "params: {P: x}\n"},
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("warm", [False, True])
def test_after_a_refused_push_the_server_is_what_it_was(server: Server, what: str, warm: bool) -> None:
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    if warm:
        assert gitcfg(server.folder, "check", "--no-parsers").returncode == 0
        assert (server.folder / "gitcfg").is_dir()
    before = server.held()
    commit(desk, WRONG[what], what)
    assert not server.push(desk, "main").taken
    assert server.held() == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(range(3)))
def test_the_reach_is_what_diff_tells_afterwards(server: Server, seed: int) -> None:
    """And whatever is refused has errors, whatever has none is taken."""
    rng, known = Random(f"pushes {seed}"), [first(seed) | {"gitcfg.yaml": "format: 1\n"}]
    desk = server.desk("desk", known[0])
    git(server.folder, "config", "gitcfg.protected", "refs/heads/guarded")
    server.push(desk, "main")
    for _ in range(4):
        known.append(next_of(known, rng) | {"gitcfg.yaml": "format: 1\n"})
        gone = dict.fromkeys(known[-2].keys() - known[-1].keys())
        old, new = server.tip(), commit(desk, {**known[-1], **gone}, "Next")
        said = server.push(desk, "main")
        assert said.taken
        told = gitcfg(desk, "diff", "--stat", old, new)
        assert f"{told.stdout}{told.stderr}".rstrip("\n") in said.text
        errors = gitcfg(desk, "check", "--at", new, "--no-parsers").returncode
        assert errors == ("that a protected branch would reject" in said.text)


@contextmanager
def listening() -> Iterator[tuple[int, list[object]]]:
    """A port of this machine, and who came there."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as canary:

        def listen() -> None:
            try:
                while True:
                    came.append(canary.accept())
            except OSError:
                return

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield canary.getsockname()[1], came
        canary.shutdown(socket.SHUT_RDWR)  # to close it alone does not wake who waits for somebody to come
        thread.join()


def poisoned(secret: Path, canary: Path, port: int) -> dict[str, Files]:
    """What would read a file, run a program or call somebody, if it could."""
    reach = f"http://127.0.0.1:{port}/"
    runs = f"{sys.executable} -c open({str(canary)!r},'w')"
    condor = "/etc/condor/config.d/50"
    template: Files = {"groups/g.yaml": "files: {/etc/t: {template: t.j2}}\n"}
    starts = "{{ cycler.__init__.__globals__.os.system('touch " + str(canary) + "') }}"

    def schema(where: str) -> Files:
        return {"parameters/p.yaml": f'parameters: {{P: {{description: d, schema: {{$ref: "{where}"}}}}}}\n'}

    def text(said: str) -> Files:
        return {"groups/g.yaml": f'files: {{{condor}: {{text: "{said}\\n"}}}}\n'}

    return {
        "a template that opens": template | {"templates/t.j2": f"{{{{ open('{secret}').read() }}}}"},
        "a template that includes": template | {"templates/t.j2": f"{{% include '{secret}' %}}"},
        "a template that starts": template | {"templates/t.j2": starts},
        "a source that leads out": {"groups/g.yaml": f"files: {{/etc/t: {{source: ../../..{secret}}}}}\n"},
        "a link": {"files/s": Symlink(secret), "groups/g.yaml": "files: {/etc/t: {source: s}}\n"},
        "a schema elsewhere": schema(reach),
        "a schema in a file": schema(f"file://{secret}"),
        "HTCondor runs": text(f"include command : {runs}"),
        "HTCondor reads": text(f"include : {secret}"),
        "HTCondor fetches": text(f"use {reach}"),
        "HTCondor in a value": {
            "parameters/p.yaml": "parameters: {P: {type: string, macros: condor, description: d}}\n",
            "groups/g.yaml": f'params: {{P: "$F({secret})"}}\n'
            f'files: {{{condor}: {{format: condor, params: ["*"]}}}}\n',
        },
        "YAML's tags": {"groups/g.yaml": f"!!python/object/apply:os.system ['touch {canary}']\n"},
        "git's own files": {
            ".gitattributes": "* filter=x diff=x\n",
            ".gitmodules": f'[submodule "x"]\n\turl = {reach}\n',
        },
    }


@pytest.mark.parametrize("parsers", ["false", "true"])
def test_nothing_that_is_pushed_runs_or_reads_anything(server: Server, tmp_path: Path, parsers: str) -> None:
    secret, canary = tmp_path / "secret", tmp_path / "canary"
    secret.write_text("the secret of the server\n")
    git(server.folder, "config", "gitcfg.parsers", parsers)
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    with listening() as (port, came):
        found = poisoned(secret, canary, port)
        for number, files in enumerate(found.values()):
            git(desk, "switch", "--quiet", "--create", f"b{number}", "main")
            commit(desk, files, "Poison")
        said = server.push(desk, "--all")
        assert said.text.count("repeats the check.") == len(found)
        assert "the secret of the server" not in said.text
        assert not canary.exists()
        assert came == []


@pytest.mark.slow
@pytest.mark.parametrize("name", REPOSITORIES)
def test_hostile_content_is_refused_in_words(server: Server, name: str) -> None:
    code, make = REPOSITORIES[name]
    desk = server.desk("desk", {"gitcfg.yaml": "format: 1\n"} | make())
    said = server.push(desk, "main")
    assert not said.taken
    assert f"error[{code}]" in said.text
    assert "\x1b" not in said.text


def test_of_pushes_that_race_exactly_one_wins(server: Server) -> None:
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    desks = [server.desk(f"desk{number}") for number in range(4)]
    tips = [commit(desk, {"groups/g.yaml": f"params: {{P: {n}}}\n"}, str(n)) for n, desk in enumerate(desks)]
    pushes = [server.start(desk, "main") for desk in desks]
    codes = [push.communicate(timeout=120) and push.returncode for push in pushes]
    assert codes.count(0) == 1
    assert server.tip() == tips[codes.index(0)]
    git(server.folder, "fsck", "--strict", "--no-dangling")
    assert not list((server.folder / "objects").glob("tmp_objdir*"))


def test_pushes_while_the_cache_is_written(server: Server) -> None:
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    words = [sys.executable, "-m", "gitcfg", "-C", str(server.folder), "check", "--no-parsers"]
    for number in range(3):
        checks = [
            subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)
        ]
        commit(desk, {"groups/g.yaml": f"params: {{P: {number + 7}}}\n"}, "Right")
        assert server.push(desk, "main").taken
        commit(desk, {"groups/g.yaml": "params: {P: x}\n"}, "Wrong")
        assert not server.push(desk, "main").taken
        git(desk, "reset", "--quiet", "--hard", "HEAD~1")
        assert [check.wait() for check in checks] == [0, 0]


@pytest.mark.parametrize("mode", [0o700, 0o770, 0o702])
def test_a_cache_that_others_can_write_says_nothing(server: Server, mode: int) -> None:
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    commit(desk, WRONG["a value"], "Wrong")
    forged = question(Repository.open(desk).at("HEAD"), None, date.today(), "")
    FolderCache(server.folder / "gitcfg", os.geteuid()).put(forged, Checked((), 3, 1, 0, 1))
    (server.folder / "gitcfg").chmod(mode)
    # Whoever can write as the server's own user needs no gate: that this lie is believed proves the test.
    assert server.push(desk, "main").taken == (mode == 0o700)


def test_a_new_pool_of_10_000_nodes_takes_little_memory(tmp_path: Path) -> None:
    """400 MiB is the promise: the hook measures itself."""
    measured = tmp_path / "kilobytes"
    hook = (
        f"#!{sys.executable}\nimport resource, subprocess, sys\n"
        f"code = subprocess.call([{sys.executable!r}, '-m', 'gitcfg', 'hook', 'pre-receive'])\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        f"open({str(measured)!r}, 'w').write(str(used))\nsys.exit(code)\n"
    )
    server = Server(tmp_path / "server", hook)
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    commit(desk, {f"nodes/m{n:05}.yaml": f"groups: [g]\nparams: {{P: {n}}}\n" for n in range(10_000)}, "Many")
    said = server.push(desk, "main")
    assert said.taken
    assert "10,000 nodes are added" in said.text
    assert int(measured.read_text()) < 400 * 1024


def test_other_hooks_may_ask_about_what_is_pushed(tmp_path: Path) -> None:
    """It is not in the repository yet: git names where it is kept apart to its hooks alone."""
    asks = f'read -r old new ref\nexec {sys.executable} -m gitcfg check --no-parsers --at "$new"\n'
    server = Server(tmp_path / "server", f"#!/bin/sh\n{asks}")
    desk = server.desk("desk", POOL)
    said = server.push(desk, "main")
    assert said.taken
    assert said.text.startswith("Nothing is wrong: 3 nodes")
    commit(desk, WRONG["a value"], "Wrong")
    assert not server.push(desk, "main").taken


@pytest.mark.parametrize("name", ["a:b", 'x:y "z" \\ ä'])
def test_a_server_whose_path_git_quotes(tmp_path: Path, name: str) -> None:
    """Lists of paths have colons between them: git quotes a path that holds one, and its library does not."""
    server = Server(tmp_path / name)
    desk = server.desk("desk", POOL)
    assert server.push(desk, "main").taken
    commit(desk, WRONG["a value"], "Wrong")
    said = server.push(desk, "main")
    assert not said.taken
    assert "GC206" in said.text
    git(desk, "reset", "--quiet", "--hard", "HEAD~1")
    commit(desk, {"nodes/more.yaml": "groups: [g]\n"}, "More")
    assert server.push(desk, "main").taken
