"""Rules and allocations: what is understood of them, with its places, kept and read again; or refused."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load
from gitcfg.model import Binding, Op, Origin, Ref
from gitcfg.model.rules import Allocation, Count, Domain, Permit, Rule, RuleKind, Uniqueness
from tests.load.keeping import Dictionary, Watched
from tests.load.test_schema_format import VALUES, example, places

R, A = "rules/r.yaml", "allocations/a.yaml"
FILES = {
    "gitcfg.yaml": "format: 1\n",
    R: """rules:
  clients: {install: F, description: All., where: 'true'}
  some: {install: F, over: I, per: self.as, count: 2}
  few: {limit: F, count: {max: 4}}
  many: {install: F, count: {min: 1}}
  set: {set: {P: 017, Q: {$append: x}, N: null}}
  ports: {domain: {P: [80, 81.0, "1024-65535"]}, unique: node}
  own: {domain: {a: [x]}, over: I, unique: node.name}
  must: {require: 'false', message: Never.}
  out: {forbid: {by: [bill, "b*"], params: ["P*"], nodes: [n1]}}
""",
    A: """install: [n1, n2/eth0]
values:
  n1: {P: 80}
  n2/eth0: {}
""",
}


def at(line: int, column: int, file: str = R) -> Origin:
    return Origin(file, line, column)


def bound(given: object, text: str | None, origin: Origin, place: Origin, op: Op = Op.SET) -> Binding:
    return Binding(op, given, text, origin, place)


RULES = (
    Rule(
        "clients",
        at(2, 3),
        RuleKind.INSTALL,
        "All.",
        feature=Ref("F", at(2, 22)),
        where=Ref("true", at(2, 51)),
    ),
    Rule(
        "some",
        at(3, 3),
        RuleKind.INSTALL,
        feature=Ref("F", at(3, 19)),
        over=Ref("I", at(3, 28)),
        per=Ref("self.as", at(3, 36)),
        count=Count(2, 2, at(3, 52)),
    ),
    Rule("few", at(4, 3), RuleKind.LIMIT, feature=Ref("F", at(4, 16)), count=Count(0, 4, at(4, 26))),
    Rule("many", at(5, 3), RuleKind.INSTALL, feature=Ref("F", at(5, 19)), count=Count(1, None, at(5, 29))),
    Rule(
        "set",
        at(6, 3),
        RuleKind.SET,
        params={
            "P": bound(17, "017", at(6, 15), at(6, 18)),
            "Q": bound("x", None, at(6, 23), at(6, 26), Op.APPEND),
            "N": bound(None, None, at(6, 40), at(6, 43), Op.NULL),
        },
    ),
    Rule(
        "ports",
        at(7, 3),
        RuleKind.DOMAIN,
        domains={
            "P": Domain("P", (80, 81, "1024-65535"), at(7, 20), (at(7, 24), at(7, 28), at(7, 34))),
        },
        unique=Uniqueness("node"),
    ),
    Rule(
        "own",
        at(8, 3),
        RuleKind.DOMAIN,
        domains={"a": Domain("a", ("x",), at(8, 18), (at(8, 22),))},
        unique=Uniqueness("key", Ref("node.name", at(8, 44))),
        over=Ref("I", at(8, 33)),
    ),
    Rule("must", at(9, 3), RuleKind.REQUIRE, require=Ref("false", at(9, 19)), message="Never."),
    Rule(
        "out",
        at(10, 3),
        RuleKind.FORBID,
        permit=Permit(
            (Ref("bill", at(10, 23)), Ref("b*", at(10, 29))),
            params=(Ref("P*", at(10, 45)),),
            nodes=(Ref("n1", at(10, 60)),),
        ),
    ),
)
ALLOCATION = Allocation(
    "a",
    Origin(A),
    (Ref("n1", at(1, 11, A)), Ref("n2/eth0", at(1, 15, A))),
    {"n1": {"P": bound(80, "80", at(3, 8, A), at(3, 11, A))}, "n2/eth0": {}},
)


def test_everything_is_understood_with_its_place() -> None:
    model = load(DictTree(FILES))
    assert tuple(model.rules.values()) == RULES
    assert dict(model.allocations) == {"a": ALLOCATION}
    assert tuple(model.findings) == ()


def test_what_was_read_is_kept_and_nothing_is_read_again() -> None:
    keeper, tree = Dictionary(), Watched(FILES)
    for _ in range(2):
        model = load(tree, keeper)
        assert tuple(model.rules.values()) == RULES
        assert dict(model.allocations.items()) == {"a": ALLOCATION}
    assert sorted(tree.reads) == sorted(["gitcfg.yaml", *FILES])


def test_to_ask_for_one_kind_reads_no_other() -> None:
    tree = Watched({**FILES, "features/F.yaml": "{}"})
    model = load(tree)
    assert "a" in model.allocations
    assert tree.reads == ["gitcfg.yaml"]
    assert model.features["F"]
    assert tree.reads == ["gitcfg.yaml", "features/F.yaml"]


@pytest.mark.parametrize(
    "text", ["rules: {r: {install: 1}}", "rules: {r: {install: F, set: {}}}", "rules: {r: }"]
)
def test_a_rule_that_is_misread_says_nothing(text: str) -> None:
    model = load(DictTree({**FILES, R: text}))
    assert model.rules["r"].params == {}
    assert list(model.unread["rules"]) == ["r"]


@given(st.data())
def test_whatever_is_said_is_understood_or_told_and_kept_alike(data: st.DataObject) -> None:
    said = {kind: example(kind) for kind in ("rules", "allocation")}
    for document in said.values():
        at: Any = document
        *steps, last = data.draw(st.sampled_from([path for path in places(document) if path]))
        for step in steps:
            at = at[step]
        at[last] = data.draw(st.sampled_from((*VALUES, 2.0, 10**30, {"min": 1.0}, [80.0], [{}])))
    files = {"gitcfg.yaml": "format: 1\n", R: json.dumps(said["rules"]), A: json.dumps(said["allocation"])}
    keeper = Dictionary()
    first, again = (_told(files, keeper) for _ in range(2))
    assert first == again
    (rules, allocations), unread, told = first
    assert {finding.origins[0].file for finding in told} >= {R for _ in unread.get("rules", ())}
    assert all(rule.origin.file == R for rule in rules.values())
    assert allocations.keys() == {"a"}


def _told(files: Mapping[str, str], keeper: Dictionary) -> tuple[Any, Any, Any]:
    model = load(DictTree(files), keeper)
    known = dict(model.rules.items()), dict(model.allocations.items())
    return known, {kind: set(names) for kind, names in model.unread.items()}, tuple(model.findings)
