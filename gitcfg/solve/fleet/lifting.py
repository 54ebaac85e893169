"""Which single rule would let everything be decided, if what it demands were lifted."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gitcfg.model import Model
from gitcfg.model.rules import Rule
from gitcfg.solve.fleet.answers import Unsolved
from gitcfg.solve.fleet.causes import Cause


def suggested(model: Model, found: Unsolved, solvable: Callable[[Model], bool]) -> Cause | None:
    """One of the rules that cannot hold together: no other would do. None: that one alone is not enough.

    What was found for a part of the problem (`suggestion`) is tried first: it nearly always is right.
    """
    rules = [cause for cause in found.causes if cause.rule in model.rules]
    return next(
        (cause for cause in _in_turn(rules, found.suggestion) if solvable(_without(model, cause))), None
    )


def _in_turn(rules: Sequence[Cause], first: Cause | None) -> Sequence[Cause]:
    return sorted(rules, key=lambda cause: cause != first)


def _without(model: Model, cause: Cause) -> Model:
    """A repository in which a rule does not demand this."""
    rules = dict(model.rules)
    left = _left(rules.pop(cause.rule or ""), cause)
    if left is not None:
        rules[left.name] = left
    return replace(model, rules=rules)


def _left(rule: Rule, cause: Cause) -> Rule | None:
    """What a rule says beside it; None: nothing."""
    if rule.unique is not None and cause.part:
        return replace(rule, unique=None)
    domains = {name: said for name, said in rule.domains.items() if said.origin not in cause.origins}
    return replace(rule, domains=domains) if domains else None
