"""Which nodes a deploy may touch, which commits count as reviewed, and what is ordered of a node."""

import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from gitcfg.delivery.configuration import find_node_change
from gitcfg.deploy import orders
from gitcfg.deploy.approval import ReviewedBranches, choose_nodes
from gitcfg.deploy.messages import Hello
from gitcfg.deploy.orders import Changes, OrderOptions, Orders
from gitcfg.git.repository import Repository
from gitcfg.install.package import Actions
from gitcfg.inventory.nodes import find_holds
from gitcfg.library import Source, in_memory
from gitcfg.library import open as opened
from gitcfg.model import REFUSED, GitcfgError

HEAD, OLD = "a" * 40, "b" * 40
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "nodesets/n.yaml": "nodes: n[1-5]\nfeatures: [F]\n",
    "features/F.yaml": "description: f\nfiles: {/etc/f: {text: one}}\n",
    "subsystems/s.yaml": "subsystems: {s: {files: [/etc/f], features: [F], restart: [/bin/restart]}}\n",
    "holds/all.yaml": f"where: node.name == 'n3'\ncommit: {OLD}\nuntil: 2026-01-31\nreason: look\n",
    "holds/one.yaml": f"nodes: n[1-2]\ncommit: {HEAD}\nuntil: 2026-01-31\nreason: calm.\n",
    "holds/two.yaml": f'nodes: n2\ncommit: {OLD}\nuntil: 2026-02-28\nreason: "why\\e[31m"\n',
}


def resolved(text: str) -> str | None:
    return text if text in (HEAD, OLD) else None


def test_the_hold_that_counts_is_the_last_in_order_of_name() -> None:
    fleet = in_memory(FILES)
    found = {name: hold.name for name, hold in find_holds(fleet, date(2026, 1, 31)).items()}
    assert found == {"n1": "one", "n2": "two", "n3": "all"}
    assert {name: hold.name for name, hold in find_holds(fleet, date(2026, 2, 1)).items()} == {"n2": "two"}


def test_holds_at_another_commit_and_agents_are_obeyed() -> None:
    held = find_holds(in_memory(FILES), date(2026, 1, 1))
    names = [f"n{number}" for number in range(1, 6)]
    found = choose_nodes(names, HEAD, held, resolved, {"n1", "n4"})
    assert found.nodes == ("n1", "n5")
    assert found.held == {"n1"}
    assert sorted(found.spared) == ["n2", "n3", "n4"]
    message = f"The hold two keeps it at {OLD[:10]} until 2026-02-28: why\\x1b[31m."
    assert found.spared["n2"].message == message
    assert found.spared["n2"].hint.endswith("`gitcfg hold lift two`.")
    assert found.spared["n4"].message.startswith("An agent manages this node")


def test_a_hold_that_leads_nowhere_keeps_its_nodes() -> None:
    held = find_holds(in_memory(FILES), date(2026, 1, 1))
    assert "n1" in choose_nodes(["n1"], HEAD, held, lambda text: None, ()).spared


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    git(folder, "init", "--quiet")
    change(folder, FILES)
    return folder


def change(folder: Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def reviewed(folder: Path) -> tuple[list[str], Callable[[str], bool]]:
    found = ReviewedBranches(Repository.open(folder))
    return [branch.name for branch in found.branches], found.has


def test_without_a_remote_the_protected_branch_itself_counts(pool: Path) -> None:
    git(pool, "checkout", "--quiet", "-b", "mine")
    mine = change(pool, {"groups/g.yaml": "{}\n"})
    names, has = reviewed(pool)
    assert names == ["main"]
    assert not has(mine)
    assert has(git(pool, "rev-parse", "main"))


def test_of_a_clone_what_was_fetched_counts(pool: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(pool), str(clone))
    mine = change(clone, {"groups/g.yaml": "{}\n"})
    names, has = reviewed(clone)
    assert names == ["origin/main"]
    assert not has(mine)
    theirs = change(pool, {"groups/h.yaml": "{}\n"})
    git(clone, "fetch", "--quiet")
    usual = ReviewedBranches(Repository.open(clone)).default
    assert usual is not None
    assert usual.commit == theirs


def test_a_clone_that_stands_elsewhere_knows_the_protected_branch_too(pool: Path, tmp_path: Path) -> None:
    git(pool, "branch", "other")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", "other", str(pool), str(clone))
    names, has = reviewed(clone)
    assert names == ["origin/main"]
    assert not has(change(clone, {"groups/g.yaml": "{}\n"}))


def test_the_settings_say_which_branches_count(pool: Path) -> None:
    change(pool, {"gitcfg.yaml": "format: 1\nprotected: [refs/heads/prod*]\n"})
    assert reviewed(pool)[0] == []
    git(pool, "branch", "prod-1")
    git(pool, "branch", "prod-2")
    assert reviewed(pool)[0] == ["prod-1", "prod-2"]
    git(pool, "checkout", "--quiet", "prod-2")
    assert reviewed(pool)[0] == ["prod-2", "prod-1"]


def make_orders(source: Source, **said: object) -> Orders:
    return Orders(source, source.at("HEAD"), ["n1", "n2"], OrderOptions("me@here", **said))  # type: ignore[arg-type]


def hello(commit: str | None, digest: str = "", agent: str = "") -> Hello:
    return Hello("3.11", "n1", "root", commit, digest, agent)


def test_an_order_says_what_the_change_asks_for(pool: Path) -> None:
    first = git(pool, "rev-parse", "HEAD")
    with opened(pool).at(first) as fleet:
        digest = fleet["n1"].digest
    second = change(pool, {"features/F.yaml": "description: f\nfiles: {/etc/f: {text: two}}\n"})
    made = make_orders(opened(pool))
    found = made.of("n1", hello(None))
    assert found.package["commit"] == second
    assert found.package["files"]["/etc/f"]["content"] == "two"
    assert (found.actions, found.who, found.dry, found.force_agent) == (
        Actions(restart=("s",)),
        "me@here",
        False,
        False,
    )
    assert made.of("n1", hello(first, digest)).actions == Actions(reload=("s",))
    assert made.of("n1", hello(first, found.package["digest"])).actions == Actions()
    assert made.of("n2", hello("0" * 40)).actions == Actions(restart=("s",))
    assert made.of("n2", hello("HEAD")).actions == Actions(restart=("s",))
    made.close()


@pytest.mark.parametrize("together", [200, 3, 0])  # at the first node of six, at the third, never
def test_many_nodes_are_compared_at_once_with_the_same_result(
    pool: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(orders, "_TOGETHER", together)
    first = git(pool, "rev-parse", "HEAD")
    more = {"nodes/n4.yaml": "files: {/etc/f: {text: four}}\n", "nodes/n7.yaml": "features: [F]\n"}
    other = "subsystems: {t: {params: [P], features: [F], restart: [/bin/t], reload: [/bin/r]}}\n"
    more |= {"subsystems/t.yaml": other, "nodes/n5.yaml": "without: [F]\n"}
    second = change(pool, more)
    third = change(pool, {"nodes/n2.yaml": "files: {/etc/f: {text: two}}\n"})
    source = opened(pool)
    names = ["n1", "n2", "n3", "n4", "n5", "n7"]
    with source.at(third) as fleet:
        asked = Changes(source, fleet, names)
        for commit in (first, second, None, "0" * 40):
            old = source.at(commit) if commit in (first, second) else None
            for name in names:
                due = find_node_change(old, fleet, name)
                assert asked.actions(name, commit) == Actions(due.restart, due.reload, due.stop)
        asked.close()


def test_nothing_is_to_be_done_where_the_commit_changes_nothing(pool: Path) -> None:
    first = git(pool, "rev-parse", "HEAD")
    change(pool, {"groups/g.yaml": "{}\n"})
    made = make_orders(opened(pool))
    assert made.of("n1", hello(first, "another")).actions == Actions()
    made.close()


def test_a_node_with_an_agent_gets_an_order_only_where_a_hold_says_so(pool: Path) -> None:
    made = make_orders(opened(pool), held={"n2"})
    with pytest.raises(GitcfgError, match="An agent manages this node") as raised:
        made.of("n1", hello(None, agent="installed"))
    assert raised.value.code == REFUSED
    assert made.of("n2", hello(None, agent="running")).force_agent
    made.close()
