"""The expressions of rules, each compiled once; what cannot be understood is kept with its rule."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from gitcfg.cel import (
    NODE_VARIABLES,
    NODES_VARIABLES,
    SELF_VARIABLES,
    CelProblem,
    Condition,
    KeyExpression,
    compile_condition,
    compile_key,
    fields_asked,
    fields_asked_of_each,
    members_asked,
)
from gitcfg.cel.expression import Expression
from gitcfg.model import Ref
from gitcfg.model.rules import Rule, RuleKind

E = TypeVar("E", bound=Expression)
Known = Mapping[str, str]
FEATURES = "node.features"
PARAMS = "node.params"
NODES = "nodes"

OF_VALUES = (RuleKind.DOMAIN, RuleKind.REQUIRE)
"""Kinds that judge what nodes got: what the others read of a node has to stand before it has values."""


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
    if rule.kind not in OF_VALUES:
        del known[PARAMS]
    return known if rule.over is None else {**known, **SELF_VARIABLES}


def read_where(rule: Rule) -> Where | Unreadable | None:
    """The condition that says where a rule counts; None where it counts everywhere."""
    condition = _read(rule, "where", rule.where, compile_condition, variables(rule))
    return Where(condition, features_asked(condition)) if isinstance(condition, Condition) else condition


def read_per(rule: Rule) -> KeyExpression | Unreadable | None:
    """What a rule groups by."""
    return _read(rule, "per", rule.per, compile_key, variables(rule))


def read_unique(rule: Rule) -> KeyExpression | Unreadable | None:
    """What has to be equal for values to differ."""
    key = rule.unique.key if rule.unique is not None else None
    return _read(rule, "unique", key, compile_key, variables(rule))


def read_require(rule: Rule) -> Condition | Unreadable | None:
    """The invariant: of each node or instance, or, `per` a key or `over` instances, of groups of nodes."""
    known: Known = NODES_VARIABLES if rule.per is not None else variables(rule)
    if rule.over is not None:
        known = {**known, **NODES_VARIABLES}
    return _read(rule, "require", rule.require, compile_condition, known)


def _read(
    rule: Rule, part: str, at: Ref | None, compiled: Callable[[str, Known], E], known: Known
) -> E | Unreadable | None:
    if at is None:
        return None
    try:
        return compiled(at.name, known)
    except CelProblem as problem:
        return Unreadable(rule.name, part, at, bare(problem))


def features_asked(expression: Expression) -> frozenset[str] | None:
    """The features that an expression looks for; None: it may look at all of them."""
    return members_asked(expression, FEATURES)


def params_read(expression: Expression) -> frozenset[str] | None:
    """The parameters whose values an expression looks at, be it of a group's nodes; None: it may be any."""
    own = fields_asked(expression, PARAMS)
    each = fields_asked_of_each(expression, "params") if NODES in expression.names else frozenset[str]()
    return None if own is None or each is None else own | each


def bare(problem: CelProblem) -> CelProblem:
    """A problem without the frames that it came through, which hold what will hold it."""
    return CelProblem(*problem.args)
