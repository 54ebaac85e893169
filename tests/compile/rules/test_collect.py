"""What nodes collect from each other, by what they share, and what goes in circles."""

from itertools import pairwise
from typing import Any

import pytest

from gitcfg.comparison.comparison import Differing
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.operations import Lack, Why
from gitcfg.compile.rules.collect import Asking
from gitcfg.git.tree import DictTree
from tests.compile.rules.fleets import TODAY

FILES = {
    "gitcfg": "format: 1",
    "parameters/all": """parameters:
  address: {type: string}
  servers: {type: string}
  listed: {type: list}
  numbers: {type: list}
  size: {type: integer}
  plain: {}
  tags: {type: list}
""",
    "features/dns": "{}",
    "features/boss": "{}",
    "nodes/a": "features: [dns]\nfacts: {subnet: s1}\nparams: {address: '10.0.0.9', size: 3, tags: [x, y]}",
    "nodes/b": "features: [dns]\nfacts: {subnet: s1}\nlabels: [new]\nparams: {address: '10.0.0.1', size: 1}",
    "nodes/c": "features: [dns]\nfacts: {subnet: s2}\nparams: {address: '10.0.1.1', size: 2, tags: [z]}",
    "nodes/d": "features: [dns]\nstate: retired\nfacts: {subnet: s1}",
    "nodes/e": "facts: {subnet: s1}",
    "nodes/f": "{}",
    "nodes/g": "features: [boss]\nfacts: {subnet: s2}",
}


def collecting(said: str, param: str = "listed", **more: str) -> Fleet:
    files = {**FILES, "groups/default": f"params: {{{param}: {{$collect: {said}}}}}", **more}
    fleet = compile_tree(DictTree({f"{path}.yaml": text for path, text in files.items()}), TODAY)
    assert not fleet.model.findings
    return fleet


def values(fleet: Fleet, param: str = "listed") -> dict[str, Any]:
    return {name: fleet[name].params.get(param) for name in fleet.names}


def wanting(fleet: Fleet) -> list[tuple[Asking, Lack]]:
    """What cannot be collected, and why."""
    assert fleet.collecting is not None
    found = [(each, each.lack) for each in fleet.collecting.asking() if each.lack is not None]
    return sorted(found, key=lambda pair: (pair[0].param, pair[0].nodes))


def test_names_are_collected_from_all_that_have_a_feature() -> None:
    found = values(collecting("{param: name, feature: dns}"))
    assert found == {**{name: ["a", "b", "c"] for name in "abcefg"}, "d": None}


def test_values_are_of_the_nodes_that_share_facts_in_order_of_name() -> None:
    found = values(collecting("{param: address, feature: dns, same: [subnet]}"))
    assert found == {
        **{name: ["10.0.0.9", "10.0.0.1"] for name in "abe"},
        **{name: ["10.0.1.1"] for name in "cg"},
        "d": None,
        "f": [],
    }


@pytest.mark.parametrize(
    ("said", "param", "value"),
    [
        ("{param: address, feature: dns, same: [subnet], sort: value}", "listed", ["10.0.0.1", "10.0.0.9"]),
        ("{param: address, feature: dns, join: ', '}", "servers", "10.0.0.9, 10.0.0.1, 10.0.1.1"),
        ("{param: address, feature: dns, where: '\"new\" in other.labels'}", "listed", ["10.0.0.1"]),
        ("{param: name, feature: dns, where: 'other.name != \"b\"'}", "listed", ["a", "c"]),
        ("{param: size, feature: dns}", "numbers", [3, 1, 2]),
        ("{param: tags, feature: dns}", "listed", ["x", "y", "z"]),
        ("{param: name, feature: boss, one: true}", "servers", "g"),
        ("{param: name, feature: nobody}", "listed", []),
        ("{param: name, feature: nobody, join: ' '}", "servers", ""),
        ("{param: plain, feature: dns}", "listed", []),
    ],
)
def test_what_is_collected_becomes_one_value(said: str, param: str, value: Any) -> None:
    assert collecting(said, param)["e"].params[param] == value


def test_the_trail_says_from_which_nodes() -> None:
    node = collecting("{param: address, feature: dns, same: [subnet], sort: value}")["e"]
    (step,) = node.trail("listed")
    assert step.op.value == "collect"
    assert step.given == {"param": "address", "feature": "dns", "same": ["subnet"], "sort": "value"}
    assert (step.result, step.nodes) == (["10.0.0.1", "10.0.0.9"], ("b", "a"))
    assert step.path == ("group default",)


def test_what_is_collected_may_be_composed_upon() -> None:
    more = {"nodes/e": "params: {listed: {$append: here}}"}
    assert collecting("{param: name, feature: boss}", **more)["e"].params["listed"] == ["g", "here"]


def test_what_was_collected_may_be_collected() -> None:
    more = {
        "nodes/g": "features: [boss]\nparams: {servers: {$collect: {param: listed, feature: dns, join: '+'}}}"
    }
    found = collecting("{param: name, feature: boss}", **more)
    assert found["g"].params["servers"] == "g+g+g"
    assert not wanting(found)


def test_exactly_one_is_demanded_with_what_was_found() -> None:
    found = collecting("{param: name, feature: dns, same: [subnet], one: true}", "servers")
    assert values(found, "servers") == {
        **dict.fromkeys("abef", None),
        "c": "c",
        "d": None,
        "g": "c",
    }
    lacking = wanting(found)
    assert [(each.param, each.nodes, lack.found, lack.values) for each, lack in lacking] == [
        ("servers", ("a",), ("a", "b"), 2),
        ("servers", ("b",), ("a", "b"), 2),
        ("servers", ("e",), ("a", "b"), 2),
        ("servers", ("f",), (), 0),
    ]
    assert all(each.own and each.origin.file == "groups/default.yaml" for each, _ in lacking)


def test_circles_are_told_and_collect_nothing() -> None:
    more = {
        "features/boss": "params: {servers: {$collect: {param: listed, feature: dns, join: ' '}}}",
        "nodes/e": "params: {tags: {$collect: {param: servers, feature: boss}}}",
    }
    found = collecting("{param: servers, feature: boss}", **more)
    assert found.collecting is not None
    lacking = wanting(found)
    assert {(each.param, each.own, lack.why) for each, lack in lacking} == {
        ("listed", True, Why.CIRCLE),
        ("servers", True, Why.CIRCLE),
        ("tags", True, Why.CIRCLE),
    }
    (lack,) = {lack for _, lack in lacking}
    around = found.collecting.around(lack)
    assert [(link.param, link.origin.file) for link in around] == [
        ("listed", "groups/default.yaml"),
        ("servers", "features/boss.yaml"),
    ]
    assert values(found)["a"] is None
    assert found["g"].params["servers"] is None
    assert found["e"].params["tags"] is None


def test_what_is_made_of_a_circle_is_no_value_whatever_is_composed_upon_it() -> None:
    more = {
        "features/boss": "params: {servers: {$collect: {param: listed, feature: dns, join: ' '}}}",
        "nodes/e": "params: {tags: {$collect: {param: listed, feature: boss}}}\nfeatures: [end]",
        "nodes/f": "params: {plain: {$collect: {param: tags, feature: end}}, listed: {$append: own}}",
        "features/end": "{}",
    }
    found = collecting("{param: servers, feature: boss}", **more)
    (apart,) = [(each.nodes, each.own, lack.why) for each, lack in wanting(found) if each.param == "plain"]
    assert apart == (("f",), False, Why.CIRCLE)
    assert found["f"].params["plain"] is None
    assert found["f"].params["listed"] is None
    assert [step.result for step in found["f"].trail("listed")] == [None, None]


def test_values_set_where_they_are_collected_from_are_no_circle() -> None:
    more = {"features/dns": "params: {listed: [me]}"}
    found = collecting("{param: listed, feature: dns}", **more)
    assert not wanting(found)
    assert found["e"].params["listed"] == ["me", "me", "me"]
    own = wanting(collecting("{param: listed, feature: dns}"))
    assert {(each.param, lack.why) for each, lack in own} == {("listed", Why.CIRCLE)}


def test_secrets_are_not_collected() -> None:
    more = {
        "secrets/s": "for: 'true'\nversion: 1",
        "nodes/a": "features: [dns]\nparams: {plain: {$secret: s}}",
        "nodes/b": "features: [dns]\nfacts: {subnet: s1}\nparams: {plain: 7}",
        "nodes/c": "features: [dns]\nfacts: {subnet: s2}\nparams: {plain: 8}",
    }
    found = collecting("{param: plain, feature: dns}", **more)
    assert set(values(found).values()) == {None}
    assert {lack.why for _, lack in wanting(found)} == {Why.SECRET}
    more["nodes/a"] = "features: [dns]\nfacts: {subnet: s1}\nparams: {plain: {$secret: s}}"
    found = collecting("{param: plain, feature: dns, same: [subnet]}", **more)
    assert (found["e"].params["listed"], found["g"].params["listed"]) == (None, [8])


def test_a_condition_that_cannot_be_read_leaves_nothing() -> None:
    found = collecting("{param: name, feature: dns, where: 'other.params.x == 1'}")
    assert found["e"].params["listed"] is None
    assert {lack.why for _, lack in wanting(found)} == {Why.UNREADABLE}


def test_a_condition_that_fails_leaves_nothing_to_those_whose_part_it_is() -> None:
    said = "{param: name, feature: dns, same: [subnet], where: 'other.facts.rack == 1'}"
    found = collecting(said, **{"nodes/c": "features: [dns]\nfacts: {subnet: s2, rack: 1}"})
    assert values(found) == {
        **dict.fromkeys("abde", None),
        **{name: ["c"] for name in "cg"},
        "f": [],
    }
    assert {(name, lack.why) for each, lack in wanting(found) for name in each.nodes} == {
        (name, Why.FAILED) for name in "abe"
    }
    assert found.collecting is not None
    (collect,) = found.collecting.written()
    assert set(found.collecting.index(collect).failed) == {"a", "b"}


@pytest.mark.parametrize(
    "said",
    [
        "{param: name}",
        "{param: name, feature: dns, sort: x}",
        "{param: 1, feature: dns}",
        "{param: name, feature: dns, x: 1}",
        "{param: name, feature: dns, one: true, join: x}",
    ],
)
def test_what_is_not_understood_is_a_misfit(said: str) -> None:
    found = collecting(said)
    found.compile_layers()
    _ = found.classes
    assert [origin.file for origin in found.layers.misfits] == ["groups/default.yaml"]


def test_nodes_share_a_class_where_they_collect_the_same() -> None:
    more = {f"nodes/n{number}": "facts: {subnet: s1}" for number in range(3)}
    found = collecting("{param: name, feature: dns, same: [subnet]}", **more)
    assert ["e", "n0", "n1", "n2"] in [kind.names for kind in found.classes]


def test_what_lies_below_a_value_is_told_without_need_of_it() -> None:
    more = {
        "features/dns": "params: {listed: {$fact: mine}}",
        "nodes/a": "features: [dns]\nfacts: {mine: [x]}",
    }
    found = collecting("{param: listed, feature: dns}", **more)
    assert found["e"].params["listed"] == ["x"]
    below, acting = found["a"].trail("listed")
    assert (below.overridden, below.result, acting.result) == (True, ["x"], ["x"])


def test_long_chains_are_followed() -> None:
    names = [f"p{number}" for number in range(300)]
    links = pairwise(names)
    found = collecting(
        "{param: name, feature: dns}",
        **{
            "parameters/more": "parameters:\n" + "".join(f"  {name}: {{type: list}}\n" for name in names),
            "features/boss": "params: {p0: [x]}",
            "nodesets/s": "nodes: n1\nparams:\n"
            + "".join(f"  {to}: {{$collect: {{param: {name}, feature: end}}}}\n" for name, to in links)
            + "  p0: [x]\nfeatures: [end]",
            "features/end": "{}",
        },
    )
    assert found["n1"].params["p299"] == ["x"]
    assert not wanting(found)


def test_what_grows_with_every_step_ends_with_a_problem() -> None:
    steps = [
        f"p{step}: {{$collect: {{param: {f'p{step - 1}' if step else 'name'}, feature: many}}}}"
        for step in range(6)
    ]
    found = collecting(
        "{param: name, feature: boss}",
        **{
            "parameters/more": "parameters:\n" + "".join(f"  p{step}: {{type: list}}\n" for step in range(6)),
            "features/many": "{}",
            "nodesets/s": f"nodes: n[1-60]\nfeatures: [many]\nparams: {{{', '.join(steps)}}}",
        },
    )
    params = found["n1"].params
    assert [len(params[f"p{step}"]) for step in range(3)] == [60, 3_600, 216_000]
    assert [params[f"p{step}"] for step in range(3, 6)] == [None] * 3
    lacking = wanting(found)
    assert {lack.why for _, lack in lacking} == {Why.TOO_MUCH}
    assert {each.param for each, _ in lacking if each.own} == {"p3"}
    assert {each.param for each, _ in lacking if not each.own} == {"p4", "p5"}


def test_what_others_give_makes_a_difference() -> None:
    said = "{param: name, feature: dns}"
    old, new = collecting(said), collecting(said, **{"nodes/h": "features: [dns]"})
    assert "listed" in (Differing(old, new).names(old["e"].node_class, new["e"].node_class) or ())


def test_facts_are_the_same_where_cel_has_them_equal() -> None:
    facts = {"a": "1", "b": "true", "c": "1.0", "d": '"1"', "e": "true", "g": "false", "f": "0"}
    nodes = {f"nodes/{name}": f"features: [dns]\nfacts: {{subnet: {fact}}}" for name, fact in facts.items()}
    found = values(collecting("{param: name, feature: dns, same: [subnet]}", **nodes))
    assert found == {
        **{key: ["a", "c"] for key in "ac"},
        **{key: ["b", "e"] for key in "be"},
        **{name: [name] for name in "dfg"},
    }
