"""Deploys as somebody who is not root, with a real sudo, its own rules and a real password, and without."""

import shutil
from collections.abc import Iterator

import pytest

from tests.system.node import CONFIG
from tests.system.sshd_fleet import FarFleet, far_fleet
from tests.system.sshd_node import FarNode
from tests.system.sshd_users import NAME, NUMBER, PASSWORD, Users, users

ANY, SHELL, PYTHON = "ALL=(ALL) ALL", "ALL=(ALL) NOPASSWD: /bin/sh", "ALL=(ALL) NOPASSWD: /usr/bin/python3"
NOT_ROOT = "ALL=(nobody) NOPASSWD: ALL"
OWN_FILE = """features: [plain]
files:
  /etc/app.conf: {{text: one, owner: {name}, group: {name}}}
"""
OWN_SUBSYSTEM = """subsystems:
  plain:
    features: [plain]
    files: [/etc/app.conf]
    reload: [/bin/sh, -c, 'id -u >> {heard}']
"""


@pytest.fixture(scope="module")
def known() -> Iterator[Users]:
    with users() as found:
        yield found


@pytest.fixture
def two(known: Users) -> Iterator[FarFleet]:
    folder = known.folder / "fleet"
    folder.mkdir()
    try:
        with far_fleet(folder, 2, known.within) as fleet:
            fleet.settings(f"Host *\n  User {NAME}\n")
            known.owns(*(node.home for node in fleet.nodes.values()))
            known.sudo("")
            yield fleet
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def through(two: FarFleet) -> FarFleet:
    """The same, where it is left to the deploy whether it goes through sudo."""
    if not shutil.which("sudo"):
        pytest.skip("there is no sudo")
    two.entering = ()
    return two


def owner(node: FarNode) -> int:
    (file,) = node.config.iterdir()
    return file.stat().st_uid


@pytest.mark.parametrize("rule", ["", ANY, PYTHON, NOT_ROOT])
def test_a_sudo_that_lets_nobody_through(through: FarFleet, known: Users, rule: str) -> None:
    known.sudo(rule)
    done = through.deploy("-o", "json")
    assert (done.code, through.outcomes(done)) == (3, {"n1": "sudo", "n2": "sudo"}), done.err
    assert all("--ask-sudo" in one["hint"] for one in done.summary["nodes"])
    assert [node.files for node in through.nodes.values()] == [{}, {}]


def test_a_sudo_that_needs_no_password(through: FarFleet, known: Users) -> None:
    known.sudo(SHELL)
    done = through.deploy("-o", "json", "--dry-run")
    assert (done.code, through.outcomes(done)) == (1, {"n1": "differs", "n2": "differs"}), done.err
    done = through.deploy("-o", "json")
    assert (done.code, through.outcomes(done)) == (0, {"n1": "ok", "n2": "ok"}), done.err
    assert [(node.runs, owner(node)) for node in through.nodes.values()] == [("zero", 0)] * 2
    assert [line.count("sudo -n") for line in through.nodes["n1"].asked] == [1, 1]
    # Who comes without sudo then stands before root's folders, and is told so.
    done = through.deploy("-o", "json", "--no-sudo")
    assert (done.code, through.outcomes(done)) == (3, {"n1": "sudo", "n2": "sudo"}), done.err
    assert all("var/lib/gitcfg" in one["message"] for one in done.summary["nodes"])


def test_a_sudo_that_takes_the_users_password(through: FarFleet, known: Users) -> None:
    known.sudo(ANY)
    done = through.deploy("-o", "json", "--ask-sudo", given="another\n")
    assert (done.code, through.outcomes(done)) == (3, {"n1": "sudo", "n2": "sudo"}), done.err
    done = through.deploy("-o", "json", "--ask-sudo", given=f"{PASSWORD}\n")
    assert (done.code, through.outcomes(done)) == (0, {"n1": "ok", "n2": "ok"}), done.err
    assert [node.runs for node in through.nodes.values()] == ["zero", "zero"]
    assert through.holding(PASSWORD) == set()
    assert PASSWORD not in done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "kill_installation"])
def test_what_dies_behind_sudo(through: FarFleet, known: Users, how: str) -> None:
    """The line is cut: the installation goes on. It is killed, with the sudo above it: it is taken back."""
    known.sudo(SHELL)
    through.deploy()
    node = through.nodes["n1"]
    before = node.files
    through.own("n1", LABEL="one")
    node.daemon.verbs()
    gate = node.daemon.block("reload")
    running = through.start("-o", "json", "n1")
    node.daemon.asked("reload")
    assert getattr(node, how)() > 0
    done = through.over(running)
    assert (done.code, through.outcomes(done)) == (3, {"n1": "lost"}), done.err
    gate.unlink()
    node.rests()
    done = through.deploy("-o", "json", "n1")
    (one,) = done.summary["nodes"]
    if how == "cut":
        assert (one["outcome"], one["output"]) == ("unchanged", "")
    else:
        assert one["outcome"] == "ok"
        assert "was interrupted here and rolled back" in one["output"]
    assert node.runs == "one"
    assert node.files != before


def test_who_may_not_give_files_to_root_is_told_before(two: FarFleet) -> None:
    node = two.nodes["n1"]
    before = sorted(node.root.rglob("*"))
    for words in (("--dry-run",), ()):
        done = two.deploy("-o", "json", *words)
        assert (done.code, two.outcomes(done)) == (3, {"n1": "sudo", "n2": "sudo"}), done.err
        (one, _) = done.summary["nodes"]
        assert f"The user {NAME} is not root on this node, and {CONFIG}/" in one["message"]
        assert "`owner`" in one["hint"]
    assert sorted(node.root.rglob("*")) == before


def test_nobody_is_root_without_sudo(two: FarFleet) -> None:
    done = two.call("deploy", "--yes", "--no-sudo", "-o", "json")
    assert (done.code, two.outcomes(done)) == (3, {"n1": "sudo", "n2": "sudo"}), done.err
    assert all("is not root on this node." in one["message"] for one in done.summary["nodes"])


def test_files_of_the_users_own_need_no_sudo(two: FarFleet) -> None:
    """On a part of the tree that is the user's, with a subsystem that anybody may reload."""
    node = two.nodes["n1"]
    heard = node.home / "heard"
    two.push(
        {
            "nodes/n1.yaml": OWN_FILE.format(name=NAME),
            "features/plain.yaml": "description: Something of the user's.\n",
            "subsystems/plain.yaml": OWN_SUBSYSTEM.format(heard=heard),
        }
    )
    done = two.deploy("-o", "json", "n1")
    assert (done.code, two.outcomes(done)) == (0, {"n1": "ok"}), done.out
    assert (node.root / "etc/app.conf").stat().st_uid == NUMBER
    assert heard.read_text() == f"{NUMBER}\n"
    assert two.outcomes(two.deploy("-o", "json", "n1")) == {"n1": "unchanged"}
    # What the user keeps there is not root's to go on with unasked.
    done = two.deploy("-o", "json", "--user", "root", "n1")
    assert (done.code, two.outcomes(done)) == (4, {"n1": "refused"}), done.err
    assert f"belongs to the user {NUMBER}" in done.out
