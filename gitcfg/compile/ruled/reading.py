"""The expressions of rules, each compiled once; what cannot be understood is kept with its rule."""

from collections.abc import Mapping

import msgspec

from gitcfg.cel import (
    NODE_VARIABLES,
    SELF_VARIABLES,
    CelProblem,
    Condition,
    compile_condition,
    plain_features,
)
from gitcfg.model import Ref
from gitcfg.model.rules import Rule, RuleKind

FEATURES = "node.features"

_BEFORE_VALUES = (RuleKind.INSTALL, RuleKind.SET)
"""Kinds that decide what nodes get: their conditions see no values."""


class Unreadable(msgspec.Struct, frozen=True):
    """An expression of a rule that means nothing: `part` is the key under which it stands."""

    rule: str
    part: str
    at: Ref
    problem: CelProblem


class Where(msgspec.Struct, frozen=True):
    """The condition of a rule. `asked` are the features that it looks for; None: it may look at all."""

    condition: Condition
    asked: frozenset[str] | None


def variables(rule: Rule) -> Mapping[str, str]:
    """What the conditions and keys of a rule may read."""
    known = dict(NODE_VARIABLES)
    if rule.kind in _BEFORE_VALUES:
        del known["node.params"]
    return known if rule.over is None else {**known, **SELF_VARIABLES}


def read_where(rule: Rule) -> Where | Unreadable | None:
    """The condition that says where a rule counts; None where it counts everywhere."""
    if rule.where is None:
        return None
    try:
        condition = compile_condition(rule.where.name, variables(rule))
    except CelProblem as problem:
        return Unreadable(rule.name, "where", rule.where, bare(problem))
    return Where(condition, features_asked(condition))


def features_asked(condition: Condition) -> frozenset[str] | None:
    """The features that a condition looks for; None: it may look at all of them."""
    return plain_features(condition.text) if FEATURES in condition.names else frozenset()


def bare(problem: CelProblem) -> CelProblem:
    """A problem without the frames that it came through, which hold what will hold it."""
    return CelProblem(*problem.args)
