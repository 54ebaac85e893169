"""Rules and allocations under edits: they follow what they name, and nothing goes that they still need."""

from datetime import date

import pytest

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out, parse_orders
from gitcfg.git.tree import DictTree
from gitcfg.model import GitcfgError

TODAY = date(2026, 1, 1)
RULES = """rules:
  put:
    install: F   # which everybody has
    over: F
    count: 1
  few: {limit: F, count: {max: 4}}
  set: {set: {P: 1, "${as}": {$secret: s}}}
  ports: {domain: {P: [80]}}
  own: {domain: {P: [80]}, over: F}
  out:
    forbid:
      by: [F, P, g]
      features: [F, "F*"]
      params: [P]
      groups: [g]
      nodes: [n1]
      subsystems: [x]
      secrets: [s]
      rules: [put]
  cel: {require: '"F" in node.features'}
"""
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  P: {description: One., type: integer}\n",
    "subsystems/s.yaml": "subsystems:\n  x: {}\n",
    "features/F.yaml": "description: F.\n",
    "groups/g.yaml": "features: [F]\n",
    "nodes/n1.yaml": "groups: [g]\n",
    "secrets/s.yaml": "for: 'true'\nversion: 1\n",
    "rules/r.yaml": RULES,
    "allocations/put.yaml": "install: [n1, n1/a, n11]\n",
    "allocations/ports.yaml": "values:\n  n1: {P: 80}\n",
    "allocations/own.yaml": "values:\n  n1/a: {P: 80}\n",
}


def edited(line: str) -> dict[str, str | None]:
    """The files that an order leaves otherwise."""
    draft = Draft(DictTree(FILES))
    carry_out(draft, parse_orders([line.encode()]))
    return {path: data.decode() if data is not None else None for path, data in draft.files.items()}


def renamed(kind: str, old: str, new: str) -> dict[str, str | None]:
    return edited(f'{{"do": "rename", "kind": "{kind}", "name": "{old}", "to": "{new}"}}')


def replaced(*pairs: tuple[str, str]) -> str:
    text = RULES
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_rules_follow_a_feature() -> None:
    assert renamed("feature", "F", "G")["rules/r.yaml"] == replaced(
        ("install: F ", "install: G "), ("over: F", "over: G"), ("limit: F", "limit: G"), ('[F, "F', '[G, "F')
    )


@pytest.mark.parametrize(
    ("kind", "old", "before", "after"),
    [
        ("group", "g", "groups: [g]", "groups: [new]"),
        ("subsystem", "x", "subsystems: [x]", "subsystems: [new]"),
    ],
)
def test_rules_follow_what_they_protect(kind: str, old: str, before: str, after: str) -> None:
    assert renamed(kind, old, "new")["rules/r.yaml"] == replaced((before, after))


def test_rules_follow_a_secret() -> None:
    pairs = ("$secret: s", "$secret: new"), ("secrets: [s]", "secrets: [new]")
    assert renamed("secret", "s", "new")["rules/r.yaml"] == replaced(*pairs)


@pytest.mark.parametrize(
    ("kind", "old", "before", "after"),
    [
        ("feature", "F", "feature: F", "feature: G"),
        ("parameter", "P", "param: P", "param: G"),
        ("parameter", "name", "", ""),
    ],
)
def test_what_is_collected_follows(kind: str, old: str, before: str, after: str) -> None:
    of_node = "{$collect: {param: name, feature: X}}"
    collected = f"  all: {{$collect: {{param: P, feature: F, where: 'true'}}}}\n  me: {of_node}\n"
    files = {
        **FILES,
        "parameters/n.yaml": "parameters:\n  name: {description: One.}\n",
        "groups/h.yaml": f"params:\n{collected}",
        "rules/s.yaml": f"rules:\n  s:\n    set:\n{collected.replace('  ', '      ')}",
    }
    draft = Draft(DictTree(files))
    line = f'{{"do": "rename", "kind": "{kind}", "name": "{old}", "to": "G"}}'
    carry_out(draft, parse_orders([line.encode()]))
    for path in ("groups/h.yaml", "rules/s.yaml"):
        assert draft.text(path) == files[path].replace(before, after)


def test_attributes_of_instances_are_no_parameters() -> None:
    found = renamed("parameter", "P", "Q")
    assert found["rules/r.yaml"] == replaced(
        ("set: {P", "set: {Q"), ("ports: {domain: {P", "ports: {domain: {Q"), ("params: [P]", "params: [Q]")
    )
    assert found["allocations/ports.yaml"] == "values:\n  n1: {Q: 80}\n"
    assert "allocations/own.yaml" not in found


def test_slots_follow_a_node() -> None:
    found = renamed("node", "n1", "m")
    assert found["rules/r.yaml"] == replaced(("nodes: [n1]", "nodes: [m]"))
    assert found["allocations/put.yaml"] == "install: [m, m/a, n11]\n"
    assert found["allocations/ports.yaml"] == "values:\n  m: {P: 80}\n"
    assert found["allocations/own.yaml"] == "values:\n  m/a: {P: 80}\n"


def test_what_was_decided_follows_its_rule() -> None:
    assert renamed("rule", "put", "new") == {
        "rules/r.yaml": replaced(("  put:", "  new:"), ("rules: [put]", "rules: [new]")),
        "allocations/put.yaml": None,
        "allocations/new.yaml": FILES["allocations/put.yaml"],
    }


def test_what_only_people_understand_is_listed() -> None:
    draft = Draft(DictTree(FILES))
    left = carry_out(draft, parse_orders([b'{"do": "rename", "kind": "feature", "name": "F", "to": "G"}']))
    assert [str(place.origin) for place in left if place.origin.file.startswith("rules")] == [
        "rules/r.yaml:12:12",
        "rules/r.yaml:13:22",
        "rules/r.yaml:20:20",
    ]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("feature", "F"),
        ("group", "g"),
        ("parameter", "P"),
        ("subsystem", "x"),
        ("secret", "s"),
        ("rule", "put"),
    ],
)
def test_nothing_goes_that_rules_name(kind: str, name: str) -> None:
    """An edit that leaves such a finding is refused."""
    draft = Draft(DictTree(FILES))
    carry_out(draft, parse_orders([f'{{"do": "delete", "kind": "{kind}", "name": "{name}"}}'.encode()]))
    before = check(compile_tree(DictTree(FILES), TODAY))
    codes = ("GC201", "GC403") if kind == "rule" else ("GC201",)
    new = [one for one in check(compile_tree(draft.tree, TODAY)) if one not in before]
    found = [one for one in new if one.code in codes]
    files = {origin.file.partition("/")[0] for one in found for origin in one.origins}
    assert {one.subjects for one in found} == {(name,)}
    assert ("allocations" if kind == "rule" else "rules") in files


def test_rules_are_made_and_changed_like_all_else() -> None:
    made = edited(
        '{"do": "new", "kind": "rule", "name": "web", '
        '"fields": {"where": "true", "description": "All."}, "set": {"set": {"P": 1, "Q": {"$append": 2}}}}'
    )
    added = '  web: {where: "true", description: All., set: {P: 1, Q: {$append: 2}}}\n'
    assert made == {"rules/r.yaml": RULES + added}
    option = edited('{"do": "modify", "kind": "rule", "name": "set", "set": {"params": {"P": 2}}}')
    assert option["rules/r.yaml"] == replaced(("set: {P: 1", "set: {P: 2"))
    fewer = edited('{"do": "modify", "kind": "rule", "name": "set", "unset": {"set": ["P"]}}')
    assert fewer["rules/r.yaml"] == replaced(("{P: 1, ", "{"))
    slot = edited('{"do": "modify", "kind": "allocation", "name": "put", "remove": {"install": ["n11"]}}')
    assert slot == {"allocations/put.yaml": "install: [n1, n1/a]\n"}
    with pytest.raises(GitcfgError, match="Cannot edit params of an allocation this way"):
        edited('{"do": "modify", "kind": "allocation", "name": "put", "set": {"params": {"P": 1}}}')
