"""Which rules refuse whom what: by names and globs, of who and of what, and where nobody is known."""

import pytest

from gitcfg.gate.permits.judge import Actor, to_findings
from gitcfg.gate.permits.rules import Thing, find_breaches, find_refusing, load_permits
from gitcfg.gate.push import find_pusher
from gitcfg.git.signatures import Flaw
from gitcfg.git.tree import SUBMODULE, Content, DictTree, Symlink
from gitcfg.model import Origin

RULES = """\
rules:
  keep-out: {forbid: {by: ["bill@*"], features: [service, "web-*"]}}
  frozen: {forbid: {by: ["*"], groups: [core]}}
  hosts: {allow: {by: ["ann@*"], params: ["HOST*"]}}
  more: {allow: {by: ["bob@*"], params: [HOST_A]}}
  open: {allow: {by: ["*"], nodes: ["n*"]}}
  mixed: {allow: {by: ["ann@*", "bill@*"], features: [service]}}
  other: {install: service}
"""
ANN, BILL, BOB, NOBODY = ("ann@x",), ("bill@x",), ("bob@x",), ()


@pytest.mark.parametrize(
    ("who", "thing", "expected"),
    [
        (BILL, "features:service", "keep-out"),
        (BILL, "features:web-1", "keep-out"),
        (BILL, "features:web", ""),
        (BILL, "features:w*", "keep-out"),
        (BILL, "params:service", ""),
        (ANN, "features:service", ""),
        (ANN, "features:web-1", ""),
        (BOB, "features:service", "mixed"),
        (NOBODY, "features:service", "mixed"),
        (NOBODY, "features:web-1", ""),
        (ANN, "groups:core", "frozen"),
        (NOBODY, "groups:core", "frozen"),
        (ANN, "groups:other", ""),
        (ANN, "params:HOST_A", ""),
        (BOB, "params:HOST_A", ""),
        (BILL, "params:HOST_A", "hosts more"),
        (BOB, "params:HOST_B", "hosts"),
        (BOB, "params:HOST_*", "hosts more"),
        (NOBODY, "params:HOST_B", "hosts"),
        (NOBODY, "nodes:n1", ""),
        (("*@x",), "features:service", "keep-out"),
        (("*@x",), "params:HOST_A", "hosts more"),
        (("bill@x", "ann@x"), "features:service", "keep-out"),
        (("bob@x", "ann@x"), "params:HOST_B", ""),
        (("Bill@X",), "features:service", "keep-out"),
        (("Ann@X",), "params:HOST_A", "hosts more"),
    ],
)
def test_a_rule_refuses_whom_it_means(who: tuple[str, ...], thing: str, expected: str) -> None:
    rules = load_permits(DictTree({"rules/who.yaml": RULES})).rules
    kind, _, name = thing.partition(":")
    assert " ".join(rule.name for rule in find_refusing(rules, who, Thing(kind, name))) == expected


def test_many_nodes_are_one_finding() -> None:
    rules = load_permits(
        DictTree({"rules/who.yaml": "rules: {r: {forbid: {by: ['*'], nodes: ['n*']}}}\n"})
    ).rules
    places = {Thing("nodes", f"n{number}"): Origin("nodesets/n.yaml") for number in range(1, 4)}
    (found,) = to_findings(Actor(BILL), find_breaches(rules, BILL, places))
    assert found.message == (
        "bill@x, who pushes, may not change 3 nodes: the rule r (rules/who.yaml:1:9) forbids it."
    )
    assert (found.subjects, found.nodes) == (("n[1-3]", "bill@x"), ("n1", "n2", "n3"))
    assert [str(origin) for origin in found.origins] == ["nodesets/n.yaml:1:1", "rules/who.yaml:1:9"]
    (one,) = to_findings(
        Actor((), "0" * 40, Flaw.UNKNOWN), find_breaches(rules, (), dict([next(iter(places.items()))]))
    )
    assert one.message.startswith(
        "0000000000, which is signed with a key that may not sign, may not change the node n1"
    )
    assert (one.subjects, one.nodes, bool(one.hint)) == (("n1",), (), True)


def test_rules_that_cannot_be_read_are_known_to_be() -> None:
    found = load_permits(DictTree({"rules/a.yaml": "rules: {r: {forbid: 1}}\n", "rules/b.yaml": "["}))
    assert (found.rules, found.unreadable) == ((), ("r", "rules/b.yaml"))
    assert found


@pytest.mark.parametrize(
    ("files", "unreadable"),
    [
        ({"rules/a.yaml": RULES, "rules/b.yaml": "rules: {keep-out: {install: F}}\n"}, "keep-out"),
        ({"rules/a.yaml": RULES, "rules/b.yaml": "rules: {Keep-Out: {install: F}}\n"}, "Keep-Out"),
        ({"rules/a.yaml": Symlink("b.yaml"), "rules/b.yaml": RULES}, "rules/a.yaml"),
        ({"rules": Symlink("other")}, "rules"),
        ({"rules": SUBMODULE}, "rules"),
        ({"rules/a.yml": RULES}, "rules/a.yml"),
        ({"rules/a.yaml": RULES, "rules/README.md": "Who may what."}, ""),
    ],
)
def test_a_rule_that_something_hides_cannot_be_read(files: dict[str, Content], unreadable: str) -> None:
    assert " ".join(load_permits(DictTree(files)).unreadable) == unreadable


def test_where_there_are_no_rules_nothing_is_read() -> None:
    assert not load_permits(DictTree({"gitcfg.yaml": "["}))
    assert not load_permits(None)


def test_who_pushes_is_who_the_server_names() -> None:
    assert find_pusher({"USER": "git", "GL_USERNAME": "jo", "REMOTE_USER": ""}) == ("jo",)
    assert find_pusher({"USER": "git"}) is None
    assert find_pusher({"USER": "jo", "GL_USERNAME": "ann"}, "USER") == ("jo",)
    assert find_pusher({"GL_USERNAME": "ann"}, "USER") == ()
