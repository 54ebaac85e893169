"""What was decided for rules counts as it stands: places, values, and attributes of instances."""

from gitcfg.compile.rules.slots import view_rules
from gitcfg.compile.subset import find_source_files
from gitcfg.model import Origin, Ref
from gitcfg.model.rules import Allocation, Domain, Rule, RuleKind
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import counted, install, plain, rule

NAMES = ("port", "p", "if.eth0", "if.eth1", "dhcp.eth0", "dhcp.eth1")
FILES = {
    "parameters/all": "parameters:\n" + "".join(f"  {name}: {{type: string}}\n" for name in NAMES),
    "features/web": "params: {p: web}",
    "features/interface": "params: {'if.${as}': '${with.address}'}",
    "features/public": "include: [{feature: interface, as: '${as}', with: {address: '${with.address}'}}]",
    "features/dhcp": "params: {'dhcp.${as}': '${with.address}'}",
    "features/server": "include: [{feature: interface, as: eth1, with: {kind: b}}]",
    "groups/g": "features: [{feature: interface, as: eth0, with: {kind: a}}]",
    "nodes/a": "groups: [g]\nfeatures: [server]",
    "nodes/b": "groups: [g]\nparams: {port: '1'}",
    "nodes/c": "features: [{feature: interface, as: eth0, with: {address: mine}}]",
}


def at(line: int, rule: str) -> Origin:
    return Origin(f"allocations/{rule}.yaml", line, 5)


def placed(rule: str, *slots: str) -> Allocation:
    refs = tuple(Ref(slot, at(line, rule)) for line, slot in enumerate(slots, 2))
    return Allocation(rule, Origin(f"allocations/{rule}.yaml"), install=refs)


def given(rule: str, **values: dict[str, object]) -> Allocation:
    by_slot = {
        slot.replace("__", "/"): {name: plain(value) for name, value in said.items()}
        for slot, said in values.items()
    }
    return Allocation(rule, Origin(f"allocations/{rule}.yaml"), values=by_slot)


def domain(name: str, *params: str, **said: str) -> Rule:
    domains = {param: Domain(param, ("x",), Origin("r"), ()) for param in params}
    return rule(name, RuleKind.DOMAIN, 1, domains=domains, **said)


def test_a_counted_feature_is_installed_where_that_was_decided_and_says_so() -> None:
    found = fleet(
        FILES,
        install("w", "web", count=counted(2, 2), where="false"),
        allocations=(placed("w", "a", "gone", "c"),),
    )
    assert [name for name in found.names if "web" in found[name].features] == ["a", "c"]
    (installed,) = found["c"].node_class.effects.installs
    assert installed.uses[0].origin == at(4, "w")
    assert [step.path for step in found["c"].trail("p")] == [("feature web", "rule w")]
    assert "allocations/w.yaml" in find_source_files(found, "a")
    assert "allocations/w.yaml" not in find_source_files(found, "b")
    assert [kind.names for kind in found.classes] == [["a"], ["b"], ["c"]]


def test_nothing_is_installed_without_a_decision_or_a_count() -> None:
    counting = install("w", "web", count=counted(1, 1))
    assert "web" not in fleet(FILES, counting)["a"].features
    plainly = install("v", "web", where='node.name == "b"')
    found = fleet(FILES, plainly, allocations=(placed("v", "a"), placed("nobody", "a")))
    assert [name for name in found.names if "web" in found[name].features] == ["b"]


def test_what_others_read_is_there_once_it_was_decided() -> None:
    found = fleet(
        FILES,
        install("w", "web", count=counted(1, 1)),
        install("v", "server", where='"web" in node.features'),
        allocations=(placed("w", "b"),),
    )
    assert found["b"].features == ("interface", "server", "web")


def test_places_over_instances_are_those_that_are_there() -> None:
    found = fleet(
        FILES,
        install("d", "dhcp", over="interface", count=counted(1, 1)),
        allocations=(placed("d", "a/eth0", "b", "b/eth7", "c/eth0"),),
    )
    assert found["c"].params["dhcp.eth0"] == "mine"
    assert found["b"].features == ("interface",)


def test_a_decided_value_is_a_default_on_top() -> None:
    found = fleet(
        FILES, domain("d", "port"), allocations=(given("d", a={"port": "80", "p": "x"}, b={"port": "81"}),)
    )
    assert found["a"].params["port"] == "80"
    (step,) = found["a"].trail("port")
    assert (step.op.value, step.path, step.overridden) == ("default", ("allocation d",), False)
    assert "p" not in found["a"].params
    assert found["b"].params["port"] == "1"
    assert [step.overridden for step in found["b"].trail("port")] == [False, True]
    assert "allocations/d.yaml" in find_source_files(found, "b")


def test_attributes_fill_what_with_does_not_say_wherever_the_instance_stands() -> None:
    decided = given(
        "d",
        a__eth0={"address": "A0"},
        a__eth1={"address": "A1", "other": "no"},
        b__eth0={"address": "B0"},
        c__eth0={"address": "C0"},
    )
    found = fleet(FILES, domain("d", "address", over="interface"), allocations=(decided,))
    assert (found["a"].params["if.eth0"], found["a"].params["if.eth1"]) == ("A0", "A1")
    assert (found["b"].params["if.eth0"], found["c"].params["if.eth0"]) == ("B0", "mine")
    assert not found.layers.findings
    view = view_rules(found)
    assert view is not None
    seen = {one.slot: one.self_.attributes["address"].given for one in view.slots("d")}
    assert seen == {"a/eth0": "A0", "a/eth1": "A1", "b/eth0": "B0", "c/eth0": "mine"}


def test_what_is_installed_as_an_instance_gets_what_was_decided_for_it() -> None:
    found = fleet(
        FILES,
        domain("d", "address", over="interface"),
        install("e", "dhcp", over="interface"),
        allocations=(given("d", b__eth0={"address": "B0"}),),
    )
    assert found["b"].params["dhcp.eth0"] == "B0"
    assert found["c"].params["dhcp.eth0"] == "mine"


def test_instances_within_others_are_filled() -> None:
    files = {**FILES, "nodes/b": "features: [{feature: public, as: eth1}]"}
    found = fleet(
        files, domain("d", "address", over="public"), allocations=(given("d", b__eth1={"address": "B1"}),)
    )
    assert found["b"].params == {"if.eth1": "B1"}


def test_decisions_for_retired_nodes_are_nothing() -> None:
    files = {**FILES, "nodes/a": "state: retired"}
    both = (given("d", a={"port": "80"}), placed("w", "a"))
    found = fleet(files, domain("d", "port"), install("w", "web", count=counted(1)), allocations=both)
    assert found["a"].params == {}


def test_attributes_of_one_node_are_not_those_of_others() -> None:
    same = "groups: [g]"
    found = fleet(
        {**FILES, "nodes/b": same, "nodes/c": same, "nodes/d": same},
        install("r", "dhcp", over="interface"),
        domain("d", "address", over="interface"),
        rule("q", RuleKind.REQUIRE, 1, require="true", over="dhcp"),
        install("s", "web", over="dhcp", count=counted(1)),
        allocations=(given("d", b__eth0={"address": "1"}, c__eth0={"address": "2"}),),
    )
    view = view_rules(found)
    assert view is not None

    def addresses(rule: str) -> dict[str, object]:
        units = {seen.slot: seen.unit for seen in view.slots(rule) if seen.unit} if view else {}
        said = {slot: unit.attributes.get("address") for slot, unit in units.items()}
        return {slot: bound.given for slot, bound in said.items() if bound is not None}

    assert addresses("q") == {"b/eth0": "1", "c/eth0": "2"}
    assert addresses("s") == {}  # what is decided later no rule that installs sees


def test_nothing_is_decided_for_nodes_that_nobody_has_described() -> None:
    found = fleet(
        {**FILES, "gitcfg": "format: 1\nwalk_in: {groups: [g]}"},
        install("w", "web", count=counted(1)),
        install("o", "dhcp", over="interface", count=counted(1)),
        domain("d", "port"),
        domain("e", "address", over="interface"),
        allocations=(
            placed("w", ""),
            placed("o", "/eth0"),
            Allocation("d", Origin("d"), values={"": {"port": plain("1")}}),
            Allocation("e", Origin("e"), values={"/eth0": {"address": plain("1")}}),
        ),
    )
    (kind,) = found.walking_in
    assert kind.features == {"interface"}
    assert "port" not in kind.params
    assert kind.params["if.eth0"] is None
