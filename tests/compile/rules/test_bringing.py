"""What rules bring to nodes, in small: conditions, instances, circles, what fails, and who shares a class."""

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.subset import find_source_files
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import install, setting

FILES = {
    "parameters/all": "parameters:\n" + "".join(f"  {name}: {{}}\n" for name in ("p", "q", "s", "dhcp.x")),
    "features/service": "{}",
    "features/mail": "include: [service]\nparams: {p: mail}",
    "features/dns": "params: {p: dns, q: dns}",
    "features/interface": "{}",
    "features/public": "include: [interface]",
    "features/dhcp": "params: {'dhcp.${as}': '${with.subnet}'}",
    "groups/default": "params: {p: default, q: default}",
    "groups/servers": "params: {p: servers}",
    "nodes/a": "groups: [servers]\nlabels: [one]",
    "nodes/b": "groups: [servers]\nlabels: [two]",
    "nodes/c": "facts: {rack: r1}",
}
INTERFACES = """
features:
  - {feature: interface, as: eth0, with: {subnet: s1}}
  - {feature: public, as: eth1, with: {subnet: s2}}
  - {feature: interface, as: eth2, with: {subnet: s2}}
"""


def labels(fleet: Fleet, name: str) -> list[str | None]:
    return [part.label for part in fleet[name].node_class.parts]


def test_what_is_installed_lies_below_groups_and_what_is_set_above_them() -> None:
    found = fleet(FILES, install("z", "dns"), install("y", "mail"), setting("x", {"p": "ruled"}))
    assert labels(found, "a") == ["group default", "rule y", "rule z", "group servers", "rule x"]
    assert found["a"].params == {"p": "ruled", "q": "dns"}
    assert found["a"].features == ("dns", "mail", "service")


def test_a_trail_says_which_rule_brought_a_step() -> None:
    found = fleet(FILES, install("y", "mail"), setting("x", {"p": "ruled"}, line=7))
    steps = found["c"].trail("p")
    assert [step.path for step in steps] == [
        ("group default",),
        ("feature mail", "rule y"),
        ("rule x",),
    ]
    assert (steps[-1].origin.file, steps[-1].origin.line) == ("rules/all.yaml", 7)


def test_without_takes_away_what_rules_install_and_what_follows_from_it() -> None:
    files = {**FILES, "nodes/b": "without: [mail]"}
    found = fleet(files, install("y", "mail"), install("z", "dns", where='"service" in node.features'))
    assert found["a"].features == ("dns", "mail", "service")
    assert found["b"].features == ()
    assert found.stacks.unfiltered(found["b"].node_class) == {"mail", "service"}


def test_instances_are_installed_as_what_they_stand_for() -> None:
    files = {**FILES, "nodes/a": INTERFACES}
    where = 'self.with.subnet == "s2" && self.feature != "dns"'
    found = fleet(files, install("y", "dhcp", over="interface", where=where))
    assert found["a"].params["dhcp.eth1"] == "s2"
    assert set(found["a"].params) == {"dhcp.eth1", "dhcp.eth2", "p", "q"}
    assert found["b"].params.keys() == {"p", "q"}


def test_instances_that_rules_install_count() -> None:
    files = {
        **FILES,
        "nodes/a": INTERFACES,
        "parameters/more": "parameters:\n  lease.eth1: {}\n",
        "features/lease": "params: {'lease.${as}': '${with.subnet}'}",
    }
    found = fleet(
        files,
        install("x", "lease", over="dhcp", where='self.as == "eth1"'),
        install("y", "dhcp", over="interface"),
    )
    installs = found["a"].node_class.effects.installs
    assert {each.rule: [use.instance for use in each.uses] for each in installs} == {
        "x": ["eth1"],
        "y": ["eth0", "eth1", "eth2"],
    }
    assert found["a"].params["lease.eth1"] == "s2"


def test_rules_in_a_circle_bring_nothing() -> None:
    found = fleet(FILES, install("y", "mail", where='!("service" in node.features)'), install("z", "dns"))
    assert found["a"].features == ("dns",)


def test_a_condition_that_fails_brings_nothing_and_is_kept() -> None:
    found = fleet(FILES, install("y", "mail", where='node.facts.rack == "r1"'), setting("x", {"s": 1}))
    assert found["c"].features == ("mail", "service")
    assert found["a"].features == ()
    assert found.rule_engine is not None
    assert {node: str(problem) for node, problem in found.rule_engine.failed["y"].items()} == {
        "a": "1:1: node.facts has no 'rack'"
    }
    _ = found.classes
    assert found.rule_engine.failed["y"].keys() == {"a", "b"}


def test_nodes_to_which_the_same_is_brought_share_a_class() -> None:
    found = fleet(FILES, install("y", "mail", where='"servers" in node.groups'))
    assert [kind.names for kind in found.classes] == [["a", "b"], ["c"]]
    apart = fleet(FILES, install("y", "mail", where='"one" in node.labels'))
    assert [kind.names for kind in apart.classes] == [["a"], ["b"], ["c"]]


def test_set_sees_what_overrides_install_and_install_does_not() -> None:
    files = {
        **FILES,
        "overrides/o": "nodes: a\nreason: r\nuntil: 2027-01-01\nfeatures: [dns]\nparams: {q: top}",
        "overrides/w": "where: '\"mail\" in node.features'\nreason: r\nuntil: 2027-01-01\nparams: {s: w}",
    }
    found = fleet(
        files,
        install("y", "mail", where='!("dns" in node.features)'),
        setting("x", {"p": 1, "q": 1}, where='"dns" in node.features'),
    )
    assert found["a"].features == ("dns", "mail", "service")
    assert found["a"].params == {"p": "dns", "q": "top", "s": "w"}
    assert [step.path[-1] for step in found["a"].trail("p")] == [
        "group default",
        "rule y",
        "group servers",
        "rule x",
        "override o",
    ]
    assert found["c"].params == {"p": "mail", "q": "default", "s": "w"}


def test_retired_nodes_get_nothing() -> None:
    found = fleet({**FILES, "nodes/a": "state: retired"}, install("y", "mail"), setting("x", {"p": 1}))
    assert found["a"].params == {}
    assert found["a"].node_class.effects.rules == ()


def test_members_of_a_set_may_get_different_things() -> None:
    files = {**FILES, "nodesets/n": "nodes: n[1-3]"}
    found = fleet(files, install("y", "mail", where='node.name == "n2"'))
    assert [kind.names for kind in found.classes] == [["a", "b"], ["c", "n1", "n3"], ["n2"]]


def test_files_of_a_node_are_those_of_its_rules_too() -> None:
    found = fleet(FILES, install("y", "mail", where='"one" in node.labels'))
    assert {"rules/all.yaml", "features/mail.yaml"} <= find_source_files(found, "a")
    assert "rules/all.yaml" not in find_source_files(found, "b")
