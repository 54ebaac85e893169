"""What is handed to nodes: configurations and steps, against the library and against the rules."""

import json
from collections.abc import Mapping
from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.cache import NoCache
from gitcfg.delivery.configuration import find_node_change, make_configuration
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet, compare
from gitcfg.model import GitcfgError
from tests.compile.fleets import TODAY, mixed

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {PORT: {type: integer, restart: true}, MOTD: {}}\n",
    "subsystems/s.yaml": """subsystems:
  web:
    params: [PORT]
    files: [/etc/motd]
    features: [Web]
    covers: [worker]
    reload: [web, reload]
    restart: [web, restart]
    stop: [web, stop]
    check: {run: [web, ping], timeout: 2m, retries: 3}
    using: old
  worker: {params: [PORT, MOTD], reload: [worker, reload], restart: [worker, restart]}
  elsewhere: {params: [PORT], features: [Db], restart: [db]}
""",
    "features/Web.yaml": """params: {PORT: 80, MOTD: hello}
files:
  /etc/web.env: {format: env, params: [PORT], mode: "0600", owner: web}
  /etc/motd: {template: motd.j2}
""",
    "features/Db.yaml": "{}\n",
    "templates/motd.j2": "{{ params.MOTD }}\n",
    "nodes/n1.yaml": "features: [Web]\n",
    "nodes/n2.yaml": "features: [Web]\nstate: retired\n",
}


def at(files: Mapping[str, str], commit: str = "c1") -> Fleet:
    tree = DictTree(files)
    tree.commit = commit
    return Fleet(tree, None, TODAY, NoCache())


def test_all_that_a_node_needs() -> None:
    with at(FILES) as fleet:
        found = json.loads(make_configuration(fleet, "n1").encoded())
        assert found["digest"] == fleet["n1"].digest
        files = {path: file.digest for path, file in fleet["n1"].rendered.items()}
    assert {path: file["digest"] for path, file in found["files"].items()} == files
    assert found["params"] == {"PORT": 80, "MOTD": "hello"}
    env, motd = found["files"]["/etc/web.env"], found["files"]["/etc/motd"]
    assert (env["content"], env["mode"], env["owner"]) == ("PORT=80\n", "0600", "web")
    assert env["concerns"] == {"web": "restart"}
    assert motd["concerns"] == {"web": "reload", "worker": "reload"}
    assert sorted(found["subsystems"]) == ["web", "worker"]
    web = found["subsystems"]["web"]
    assert web["check"] == {"run": ["web", "ping"], "timeout": 120.0, "retries": 3}
    assert (web["covers"], web["using"], web["validate"]) == (["worker"], "old", None)


def test_one_that_is_retired_gets_nothing() -> None:
    with at(FILES) as fleet:
        found = make_configuration(fleet, "n2")
    assert (found.state, found.files, found.subsystems) == ("retired", {}, {})


def test_who_is_not_there_gets_an_error() -> None:
    with at(FILES) as fleet, pytest.raises(GitcfgError):
        make_configuration(fleet, "n3")


def test_from_nothing_everything_starts() -> None:
    with at(FILES) as fleet:
        found = find_node_change(None, fleet, "n1")
    assert (found.restart, found.reload, found.stop) == (("web",), (), ())
    assert found.files == ("/etc/motd", "/etc/web.env")
    assert json.loads(found.encoded())["from"] is None


def test_from_one_commit_to_another() -> None:
    later = {**FILES, "features/Web.yaml": FILES["features/Web.yaml"].replace("hello", "hi")}
    gone = {**FILES, "nodes/n1.yaml": "features: [Db]\n"}
    with at(FILES) as old, at(later, "c2") as new, at(gone, "c3") as without:
        assert find_node_change(old, new, "n1").reload == ("web", "worker")
        assert find_node_change(old, old, "n1").files == ()
        assert find_node_change(old, without, "n1").stop == ("web",)
        assert json.loads(find_node_change(old, new, "n1").encoded())["params"] == {
            "MOTD": {"old": "hello", "new": "hi"}
        }


@pytest.mark.parametrize("seed", range(4))
def test_of_random_fleets_it_is_what_the_library_says(seed: int) -> None:
    """One node alone is asked for, and everything is said of all: both must agree."""
    rng = Random(seed)
    files = dict(repository(replace(mixed(seed), nodes=8)))
    changed = {path: text for path, text in files.items() if rng.random() > 0.1 or "/" not in path}
    with at(files) as old, at(changed, "c2") as new:
        known = {name: change for change in compare(old, new) for name in change.nodes}
        for name in new:
            with at(files) as before, at(changed, "c2") as after:
                alone, taken = make_configuration(after, name), find_node_change(before, after, name)
            assert alone.digest == new[name].digest
            assert {path: file.content for path, file in alone.files.items()} == new[name].files
            if name in known and name in old:
                assert (taken.restart, taken.reload, taken.stop) == (
                    known[name].restart,
                    known[name].reload,
                    known[name].stop,
                )
