"""Policies, order of activations and plans: pure."""

import pytest

from gitcfg.install.disk import NOTHING, FileState, intended_state
from gitcfg.install.outcome import PackageError
from gitcfg.install.package import Actions, Package, Subsystem
from gitcfg.install.plan import (
    Plan,
    PlanRequest,
    choose_activations,
    make_plan,
    plan_from_json,
    plan_to_json,
    touched_paths,
)
from gitcfg.install.policy import (
    Policy,
    find_nested,
    find_refusals,
    holds_own,
    is_own,
    matches,
    parent_of,
    stops_agent,
)
from tests.install.world import made_file, package

ROOT = {("root", "root"): (0, 0)}


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/etc/app/**", "/etc/app/a", True),
        ("/etc/app/**", "/etc/app/a/b/c", True),
        ("/etc/app/**", "/etc/app", True),
        ("/etc/app/**", "/etc/apple", False),
        ("/etc/app/*", "/etc/app/a", True),
        ("/etc/app/*", "/etc/app/a/b", False),
        ("/etc/*/x", "/etc/a/x", True),
        ("/etc/*/x", "/etc/a/b/x", False),
        ("/etc/**/x", "/etc/x", True),
        ("/etc/**/x", "/etc/a/b/x", True),
        ("/etc/a?.conf", "/etc/ab.conf", True),
        ("/etc/a.conf", "/etc/aXconf", False),
        ("/**", "/anything/at/all", True),
        ("/etc/[a]", "/etc/a", False),
        ("/etc/x", "/etc/x\n", False),
    ],
)
def test_globs(pattern: str, path: str, fits: bool) -> None:
    assert matches(pattern, path) is fits


@pytest.mark.parametrize(
    ("pattern", "command", "resolved"),
    [
        (["/usr/bin/a", "**"], ["/usr/bin/a"], "/usr/bin/a"),
        (["/usr/bin/a", "**"], ["/usr/bin/a", "x", "y"], "/usr/bin/a"),
        (["/usr/bin/a", "**"], ["a", "x"], "/usr/bin/a"),
        (["/usr/bin/a", "**"], ["/tmp/a", "x"], None),
        (["/usr/bin/a", "**"], ["./a", "x"], None),
        (["/usr/bin/a", "*"], ["a", "x"], "/usr/bin/a"),
        (["/usr/bin/a", "*"], ["a"], None),
        (["/usr/bin/a", "*"], ["a", "x", "y"], None),
        (["/usr/bin/a", "x"], ["a", "y"], None),
        (["/usr/bin/a", "x", "**"], ["a"], None),
        (["a", "**"], ["a"], None),
        (["*", "**"], ["/bin/rm"], None),
        (["**"], ["rm", "-rf"], "rm"),
        ([], [], None),
    ],
)
def test_commands(pattern: list[str], command: list[str], resolved: str | None) -> None:
    found = Policy(commands=(tuple(pattern),)).resolve(command)
    assert found == (None if resolved is None else (resolved, *command[1:]))


@pytest.mark.parametrize(
    "path",
    [
        "/etc/gitcfg/agent.toml",
        "/etc/gitcfg",
        "/proc/x",
        "/sys/x/y",
        "/dev/sda",
        "/var/lib/gitcfg/x",
        "/opt/mine",
    ],
)
def test_some_paths_are_never_allowed(path: str) -> None:
    policy = Policy(("/**",), (), ("/opt/mine",))
    assert len(find_refusals(policy, [path], [], "/var/lib/gitcfg")) == 1
    assert find_refusals(policy, ["/etc/app"], [], "/var/lib/gitcfg") == ()


def test_a_file_cannot_be_the_folder_of_another() -> None:
    assert find_nested(["/a/b", "/a/b/c/d", "/a/bc"]) == ("/a/b", "/a/b/c/d")
    assert find_nested(["/a/b", "/a/bc", "/a/c/b"]) is None


def sub(name: str, covers: tuple[str, ...] = (), reload: bool = True, restart: bool = True) -> Subsystem:
    return Subsystem(
        name, reload=("r", name) if reload else (), restart=("R", name) if restart else (), covers=covers
    )


@pytest.mark.parametrize(
    ("subsystems", "restart", "reload", "expected"),
    [
        ([sub("a"), sub("b")], "b", "a", ("b", "a")),
        ([sub("a"), sub("b")], "ab", "ab", ("ab", "")),
        ([sub("a", ("b",)), sub("b")], "a", "b", ("a", "")),
        ([sub("a", ("b",)), sub("b")], "", "ab", ("", "ab")),
        ([sub("a", ("*",)), sub("b"), sub("c")], "ab", "c", ("a", "")),
        ([sub("a", ("b",)), sub("b", ("c",)), sub("c")], "ac", "", ("a", "")),
        ([sub("a", ("b",)), sub("b", ("a",))], "ab", "", ("a", "")),
        ([sub("a", reload=False), sub("b", restart=False)], "b", "a", ("a", "b")),
        ([sub("a", ("b",), restart=False), sub("b")], "a", "b", ("", "ab")),
    ],
)
def test_order(subsystems: list[Subsystem], restart: str, reload: str, expected: tuple[str, str]) -> None:
    chosen = choose_activations({one.name: one for one in subsystems}, restart, reload)
    assert ("".join(chosen.restart), "".join(chosen.reload)) == expected


def plan(old: Package | None, new: Package, stands: dict[str, FileState], **asked: tuple[str, ...]) -> Plan:
    return make_plan(request(old, new, stands, **asked))


def request(
    old: Package | None, new: Package, stands: dict[str, FileState], **asked: tuple[str, ...]
) -> PlanRequest:
    standing = {path: stands.get(path, NOTHING) for path in touched_paths(old, new)}
    return PlanRequest(old, new, Actions(**asked), standing, ROOT, (), lambda command: command or None)


def stands(content: bytes, mode: int = 0o644) -> FileState:
    return intended_state(made_file("/x", content, f"{mode:04o}"), (0, 0))


def test_a_plan_survives_the_journal() -> None:
    new = package({"/a": "x"}, sub("s"), commit="b")
    made = plan(package({"/b": "y"}, sub("s")), new, {"/b": stands(b"z")}, restart=("s",))
    assert made.steps
    assert plan_from_json(plan_to_json(made)) == made


def test_only_what_differs_is_planned() -> None:
    old = package({"/same": "1", "/text": "1", "/mode": "1", "/gone": "1", "/gone already": "1"})
    files = {"/same": "1", "/text": "2", "/mode": made_file("/mode", "1", "0600"), "/new": "1"}
    found = {path: stands(b"1") for path in ("/same", "/text", "/mode", "/gone")}
    made = plan(old, package(files, commit="b"), {**found, "/theirs": stands(b"?")})
    assert (made.changed, made.removed) == (("/mode", "/new", "/text"), ("/gone",))
    assert not any(entry.keep for entry in made.entries)


def test_what_is_asked_of_the_same_package_again_was_done() -> None:
    same = package({}, sub("s"))
    assert plan(same, same, {}, restart=("s",)).idle
    assert not plan(package({}, sub("s"), commit="b"), same, {}, restart=("s",)).idle


def test_an_unknown_subsystem_is_refused() -> None:
    with pytest.raises(PackageError, match="nobody"):
        plan(None, package({}, sub("s")), {}, restart=("nobody",))


def test_the_way_back() -> None:
    def undo(old: Package | None, **asked: tuple[str, ...]) -> tuple[object, bool]:
        new = package({}, sub("s"), commit="b")
        step = plan(old, new, {}, **asked).steps[0]
        return step.undo.commands, step.undo.required

    was = package({}, sub("s"))
    assert undo(was, reload=("s",)) == ((("r", "s"), ("R", "s")), True)
    assert undo(was, restart=("s",)) == ((("R", "s"),), True)
    assert undo(package({}), restart=("s",)) == ((), False)
    assert undo(None, reload=("s",)) == ((("r", "s"),), False)


def test_what_did_not_run_before_acts_after_the_swap() -> None:
    late = Subsystem("s", restart=("R",), using="old")
    assert not plan(None, package({}, late), {}, restart=("s",)).steps[0].early
    assert not plan(package({}), package({}, late, commit="b"), {}, restart=("s",)).steps[0].early
    assert plan(package({}, late), package({}, late, commit="b"), {}, restart=("s",)).steps[0].early


def test_a_command_that_the_policy_no_longer_allows_is_left_out_of_the_way_back() -> None:
    old = package({}, Subsystem("s", reload=("gone",)))
    new = package({}, sub("s"), commit="b")
    policy = Policy(commands=(("/r", "**"), ("/R", "**")))
    made = make_plan(PlanRequest(old, new, Actions(reload=("s",)), {}, ROOT, (), policy.resolve))
    assert [step.undo.commands for step in made.steps] == [()]
    assert made.steps[0].command == ("/r", "s")


@pytest.mark.parametrize(
    ("command", "ends"),
    [
        ("systemctl stop gitcfg-agent", True),
        ("/usr/bin/systemctl mask --now gitcfg-agent-once.service", True),
        ("systemctl restart telegraf gitcfg-*", True),
        ("service gitcfg-agent stop", True),
        ("pkill -f agent", True),
        ("systemctl --no-block restart gitcfg-agent", False),
        ("systemctl --no-block stop gitcfg-agent", True),
        ("systemctl reload gitcfg-agent", False),
        ("systemctl is-active gitcfg-agent", False),
        ("systemctl stop gitcfg-agents", False),
        ("pkill -HUP gitcfg-agent", False),
        ("pkill -f [", False),
    ],
)
def test_no_policy_lets_the_agent_be_stopped(command: str, ends: bool) -> None:
    words = command.split()
    policy = Policy(commands=(("**",), ("/usr/bin/systemctl", "**")))
    assert stops_agent(words) is ends
    assert (policy.resolve(words) is None) is ends
    assert stops_agent(["sh", "-c", f"true; {command} || true"]) is ends


def test_a_glob_of_a_folder_that_may_hold_gitcfgs_own_is_known() -> None:
    own = ("/etc/gitcfg", "/var/lib/gitcfg/a/b", "/etc/systemd/system/x.wants/gitcfg-agent.timer")
    for path in own:
        assert is_own(path)
        assert holds_own(parent_of(path))
    assert holds_own("/usr/bin")
    assert not any(map(holds_own, ("/etc/condor", "/etc/condor/config.d", "/var/lib/gitcfg-server")))
    assert not any(map(is_own, ("/etc/gitcfg-pool/x", "/usr/bin/gitcfg", "/opt/gitcfg/a")))
