"""How rules stand, as programs read it."""

from collections.abc import Iterable
from typing import Any

from gitcfg.cel import plain_key
from gitcfg.explain.trail import nodes_record, origin_record
from gitcfg.solve.fleet.slack import Group, Tight

Record = dict[str, Any]


def rules_to_json(found: Iterable[Tight]) -> Record:
    """`gitcfg.rules/1`."""
    return {"schema": "gitcfg.rules/1", "rules": [_rule_to_json(one) for one in found]}


def _rule_to_json(one: Tight) -> Record:
    rule = one.rule
    return {
        "name": rule.name,
        "kind": rule.kind.value,
        "description": rule.description,
        "feature": rule.feature.name if rule.feature is not None else None,
        "over": rule.over.name if rule.over is not None else None,
        "in_force": one.in_force,
        **nodes_record(one.nodes, folded=False),
        "slots": one.slots,
        "least": rule.count.least if rule.count is not None else None,
        "most": rule.count.most if rule.count is not None else None,
        "groups": [_group_to_json(group) for group in one.groups],
        "domains": [
            {"param": room.param, "values": room.values, "size": room.size, "free": room.size - room.used}
            for room in one.rooms
        ],
        "failed": list(one.failed),
        "origin": origin_record(rule.origin),
    }


def _group_to_json(group: Group) -> Record:
    return {
        "key": plain_key(group.key),
        "slots": list(group.slots),
        "placed": list(group.placed),
        "able": list(group.able),
    }
