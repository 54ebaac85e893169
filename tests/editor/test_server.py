"""A real YAML language server with a repository's schemas: it completes, explains and finds mistakes."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gitcfg import generate
from gitcfg.editor.settings import FOLDER, modeline, plan_schemas, schema_files, write_files
from gitcfg.git.worktree import FolderTree, NoGit
from gitcfg.load.repository import load
from tests.editor.server import Server, installed

SAMPLE = Path(__file__).parent.parent.parent / "sample-repo"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with its schemas."""
    folder = tmp_path_factory.mktemp("editor") / "pool"
    shutil.copytree(SAMPLE, folder)
    write_files(plan_schemas(load(FolderTree(folder, NoGit())), folder, folder / FOLDER))
    return folder


@pytest.fixture(scope="module")
def server(pool: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """The server. A second run finds it where the first has put it."""
    words = installed(Path(request.config.cache.mkdir("yaml-language-server")))
    if words is None:
        pytest.skip("yaml-language-server cannot be had here")
    running = Server(words, pool, {"validate": True, "hover": True, "completion": True})
    yield running
    running.close()


def opened(server: Server, path: str, text: str) -> str:
    return server.opened(path, f"{modeline(path)}\n{text}")


def wrong(server: Server, path: str, text: str) -> list[tuple[str, str]]:
    """What is wrong with a text: where, and what."""
    lines = [modeline(path), *text.splitlines()]
    found = []
    for said in server.diagnostics(opened(server, path, text)):
        start, end = said["range"]["start"], said["range"]["end"]
        assert start["line"] == end["line"]
        found.append((lines[start["line"]][start["character"] : end["character"]], said["message"]))
    return found


def test_a_features_name_is_completed(server: Server) -> None:
    uri = opened(server, "groups/one.yaml", "features:\n  - Exec\n")
    assert "ExecuteNode" in server.completions(uri, 2, 8)
    uri = opened(server, "nodes/two.yaml", "features: {$prepend: [Exec]}\n")
    assert "ExecuteNode" in server.completions(uri, 1, 26)


def test_parameters_and_operations_are_completed(server: Server) -> None:
    uri = opened(server, "groups/three.yaml", "params:\n  \n")
    assert {"START", "DAEMON_LIST"} <= set(server.completions(uri, 2, 2))
    uri = opened(server, "groups/four.yaml", "params:\n  DAEMON_LIST: {$}\n")
    assert "$append" in server.completions(uri, 2, 17)
    assert "$merge" not in server.completions(uri, 2, 17)
    uri = opened(server, "groups/five.yaml", "params:\n  CGROUP_MEMORY_LIMIT_POLICY: \n")
    assert {"hard", "soft"} <= set(server.completions(uri, 2, 30))


def test_groups_and_templates_are_completed(server: Server) -> None:
    uri = opened(server, "nodes/six.yaml", "groups:\n  - \n")
    found = server.completions(uri, 2, 4)
    assert "Workers" in found
    assert "default" not in found
    uri = opened(server, "groups/seven.yaml", "files:\n  /etc/motd:\n    template: \n")
    assert "motd.j2" in server.completions(uri, 3, 14)


def test_pointing_at_a_parameter_shows_what_it_is(server: Server) -> None:
    uri = opened(server, "groups/eight.yaml", 'params:\n  START: "TRUE"\n  SLOT_TYPE_1: cpus=1\n')
    shown = server.hover(uri, 2, 4)
    assert "Whether this machine takes a job" in shown
    assert "type: expression" in shown
    assert "one type" in server.hover(uri, 3, 4)


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        ("groups/a.yaml", "params:\n  NUM_SLOTS_TYPE_1: many\n", "many"),
        ("groups/b.yaml", "params:\n  NUM_SLOTS_TYPE_1: -1\n", "-1"),
        ("groups/c.yaml", "params:\n  CGROUP_MEMORY_LIMIT_POLICY: weak\n", "weak"),
        ("groups/d.yaml", "params:\n  NUM_SLOTS_TYPO_1: 1\n", "NUM_SLOTS_TYPO_1"),
        ("groups/e.yaml", "features: [ExecuteNode, Nope]\n", "Nope"),
        ("nodes/f.yaml", "groups:\n  - Nobody\n", "Nobody"),
        ("features/g.yaml", "include:\n  - feature: Nope\n", "Nope"),
        ("groups/h.yaml", "params:\n  DAEMON_LIST: {$merge: [STARTD]}\n", "$merge"),
        ("subsystems/i.yaml", "subsystems:\n  x: {params: [NOPE]}\n", "NOPE"),
        ("parameters/j.yaml", "parameters:\n  X: {depends: [NOPE]}\n", "NOPE"),
    ],
)
def test_a_mistake_is_marked_where_it_is(path: str, text: str, place: str, server: Server) -> None:
    found = wrong(server, path, text)
    assert [where for where, _ in found] == [place], found


def test_nothing_is_wrong_with_the_sample(server: Server, pool: Path) -> None:
    for path in sorted(pool.rglob("*.yaml")):
        name = path.relative_to(pool).as_posix()
        assert wrong(server, name, path.read_text()) == [], name


def test_settings_find_the_schemas_too(pool: Path, request: pytest.FixtureRequest) -> None:
    words = installed(Path(request.config.cache.mkdir("yaml-language-server")))
    if words is None:
        pytest.skip("yaml-language-server cannot be had here")
    server = Server(words, pool, {"validate": True, "completion": True, "schemas": schema_files()})
    try:
        uri = server.opened("groups/deep/one.yaml", "features:\n  - Exec\n")
        late = time.monotonic() + 30  # it takes up settings when it likes, and says nothing of that
        while "ExecuteNode" not in server.completions(uri, 1, 8):
            assert time.monotonic() < late
    finally:
        server.close()


def test_nothing_is_wrong_with_random_repositories(tmp_path: Path, server: Server) -> None:
    for seed in range(3):
        folder = tmp_path / str(seed)
        generate.write(msgspec.structs.replace(generate.small(seed), nodes=10, overrides=2, sets=0.5), folder)
        write_files(plan_schemas(load(FolderTree(folder, NoGit())), folder, folder / FOLDER))
        for path in sorted(folder.rglob("*.yaml")):
            name = path.relative_to(folder).as_posix()
            uri = server.opened(str(path), f"{modeline(name)}\n{path.read_text()}")
            assert server.diagnostics(uri) == [], name
