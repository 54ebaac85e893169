"""Mistakes that rules find, and in rules themselves: 4xx. Each is about nodes of its own."""

from collections.abc import Mapping

from gitcfg.generate.emit import to_yaml
from gitcfg.generate.mistakes.planter import Files, Planter, feature, node, parameters


def nobody_decided() -> Files:
    """One node should have a feature, and it was not decided which."""
    rule = {"install": "mistake-401", "count": 1, "where": _only("401")}
    return feature("mistake-401") | node("401") | _rules("401", rule)


def broken_invariant() -> Files:
    """A node has a label that it must not have."""
    rule = {"require": '!("mistake" in node.labels)', "where": _only("402"), "message": "planted"}
    return node("402", labels=["mistake"]) | _rules("402", rule)


def decided_for_nobody() -> Files:
    """Something was decided for a rule that is gone."""
    return {"allocations/mistake-403.yaml": to_yaml({"install": ["mistake-403.example.com"]})}


def value_outside() -> Files:
    """A node binds a value that its domain does not have."""
    declared = parameters("404", MISTAKE_404={"type": "integer"})
    rule = {"domain": {"MISTAKE_404": ["1-1023"]}, "where": _only("404")}
    return declared | node("404", params={"MISTAKE_404": 1024}) | _rules("404", rule)


def circle_of_rules() -> Files:
    """Two rules install what the other asks for."""
    features = feature("mistake-407") | feature("mistake-407-b")
    first = {"install": "mistake-407", "where": '"mistake-407-b" in node.features'}
    second = {"install": "mistake-407-b", "where": '"mistake-407" in node.features'}
    return features | _rules("407", first, second)


def _only(code: str) -> str:
    """A condition that holds on the mistake's own node."""
    return f'node.name == "mistake-{code}.example.com"'


def _rules(code: str, *rules: Mapping[str, object]) -> Files:
    named = {f"mistake-{code}{'-b' * number}": rule for number, rule in enumerate(rules)}
    return {f"rules/mistake-{code}.yaml": to_yaml({"rules": named})}


RULES: Mapping[str, Planter] = {
    "GC401": nobody_decided,
    "GC402": broken_invariant,
    "GC403": decided_for_nobody,
    "GC404": value_outside,
    "GC407": circle_of_rules,
}
