"""What nodes need of their policy: just that lets their packages through, and nothing less does."""

import tomllib
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from gitcfg.agent.config import parse_settings
from gitcfg.bundled import read_pack
from gitcfg.cache import NoCache
from gitcfg.cli.node import format_policy
from gitcfg.delivery.configuration import find_consequences, make_configuration
from gitcfg.delivery.policy import CommandNeed, Needs, find_needs
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.install.package import Package, parse_package
from gitcfg.install.policy import Policy, find_refusals
from gitcfg.library import Fleet
from tests.compile.fleets import TODAY, mixed

STATE = "/var/lib/gitcfg"
WEB = {
    "gitcfg.yaml": "format: 1\n",
    "subsystems/web.yaml": """subsystems:
  web:
    features: [Web]
    validate: ["{new}/opt/web/check", now]
    reload: [/opt/web/reload, "*"]
    restart: [python3.11, -u, /etc/web/conf.d/a]
    stop: [web, "a\\"b\\u007f\\\\", "é\\U0001F600"]
    check: {run: [sh, -c, "exec true"]}
""",
    "features/Web.yaml": """files:
  /etc/web/conf.d/a: {text: a}
  /etc/web/conf.d/b: {text: b}
  /etc/cron.d/a: {text: a}
  /etc/cron.d/b: {text: b}
  /usr/local/bin/a: {text: a}
  /usr/local/bin/b: {text: b}
  /opt/web/reload: {text: b}
""",
    "nodes/n1.yaml": "features: [Web]\n",
    "nodes/n2.yaml": "features: [Web]\nstate: retired\n",
    "nodes/n3.yaml": "features: []\n",
}


def fleet_of(files: "dict[str, str] | dict[str, bytes]") -> Fleet:
    tree = DictTree({path: text.encode() if isinstance(text, str) else text for path, text in files.items()})
    tree.commit = "c" * 40
    return Fleet(tree, None, TODAY, NoCache())


def policy(found: Needs) -> Policy:
    """As an agent reads what the command writes."""
    said = tomllib.loads("\n".join(format_policy(found)))
    head = {"server": "https://c.example.org", "server_key": "ed25519:" + "A" * 43 + "="}
    return parse_settings({**head, **said}, "agent.toml", lambda: "n1").policy


def packages(fleet: Fleet) -> Iterator[Package]:
    known = find_consequences(fleet)
    for name in fleet:
        yield parse_package(make_configuration(fleet, name, known).encoded())


def refused(own: Policy, package: Package) -> tuple[str, ...]:
    commands = [command for found in package.subsystems.values() for command in found.commands]
    return find_refusals(own, package.files, commands, STATE)


@pytest.fixture(scope="module")
def pool() -> Iterator[Fleet]:
    with fleet_of(dict(read_pack("htcondor"))) as found:
        yield found


def test_each_node_of_the_pack_is_let_do_all_it_needs(pool: Fleet) -> None:
    for package in packages(pool):
        assert refused(policy(find_needs(pool, [package.node])), package) == ()


def test_all_together_need_what_each_needs(pool: Fleet) -> None:
    own = policy(find_needs(pool, pool))
    assert not [line for package in packages(pool) for line in refused(own, package)]


def test_nothing_of_it_is_too_much(pool: Fleet) -> None:
    """Whatever one leaves out is refused on some node."""
    found = find_needs(pool, pool)
    every = list(packages(pool))
    for one in found.commands:
        own = policy(replace(found, commands=tuple(use for use in found.commands if use is not one)))
        lines = {line for package in every for line in refused(own, package)}
        assert lines == {f"This node's policy does not allow the command {list(one.words)}."}
    for place in found.paths:
        own = policy(replace(found, paths=tuple(each for each in found.paths if each is not place)))
        assert {line for package in every for line in refused(own, package)}


def test_one_more_command_is_refused(pool: Fleet) -> None:
    own = policy(find_needs(pool, pool))
    others = [
        ["condor_off", "-daemon", "startd"],
        ["env", "sh"],
        ["condor_reconfig", "-all"],
        ["sh", "-c", "x"],
    ]
    assert len(find_refusals(own, ["/etc/passwd", "/etc/condor/config.d/x"], others, STATE)) == 6


def test_the_pack_runs_no_shell(pool: Fleet) -> None:
    """`env` alone remains: it says where condor_config_val is to look."""
    risky = {one.words[0] for one in find_needs(pool, pool).commands if one.risks}
    assert risky == {"env"}
    assert all(one.program for one in find_needs(pool, pool).commands)


def test_folders_are_meant_where_they_are_an_applications_own() -> None:
    with fleet_of(WEB) as fleet:
        found = find_needs(fleet, ["n1"])
    assert {place.glob: len(place.files) for place in found.paths} == {
        "/etc/web/conf.d/*": 2,
        **dict.fromkeys(("/etc/cron.d/a", "/etc/cron.d/b", "/usr/local/bin/a", "/usr/local/bin/b"), 1),
        "/opt/web/reload": 1,
    }


def by_program(found: Needs) -> dict[str, CommandNeed]:
    return {one.words[0]: one for one in found.commands}


def test_what_to_think_of() -> None:
    with fleet_of(WEB) as fleet:
        known = by_program(find_needs(fleet, ["n1"]))
    own, python, shell = known["/opt/web/reload"], known["python3.11"], known["sh"]
    assert (own.program, own.assumed) == ("/opt/web/reload", False)
    assert ["which the repository writes" in own.risks[0], '"*"' in own.risks[1]] == [True, True]
    assert (python.program, python.assumed) == ("/usr/bin/python3.11", True)
    assert "runs /etc/web/conf.d/a" in python.risks[0]
    assert shell.program == "/bin/sh"
    assert "sh runs its arguments" in shell.risks[0]
    assert known["web"].risks == ()


def test_what_no_policy_can_let_is_told_and_left_out() -> None:
    with fleet_of(WEB) as fleet:
        found = find_needs(fleet, ["n1"])
        package = next(each for each in packages(fleet) if each.node == "n1")
    assert by_program(found)["{new}/opt/web/check"].program is None
    assert "No policy can allow this" in "\n".join(format_policy(found))
    assert len(refused(policy(found), package)) == 1


def test_of_who_is_retired_it_is_said_that_another_commit_tells() -> None:
    with fleet_of(WEB) as fleet:
        retired, idle = (find_needs(fleet, [name]) for name in ("n2", "n3"))
    assert retired.retired == ("n2",)
    assert any("the policy that they had before (--at REV): n2" in line for line in format_policy(retired))
    assert (idle.retired, idle.paths, idle.commands) == ((), (), ())


@pytest.mark.parametrize("seed", range(5))
def test_any_fleet(seed: int) -> None:
    with fleet_of(dict(repository(replace(mixed(seed), nodes=8)))) as fleet:
        found = find_needs(fleet, fleet)
        own = policy(found)
        for package in packages(fleet):
            assert refused(own, package) == ()
