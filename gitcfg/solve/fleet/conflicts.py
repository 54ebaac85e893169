"""Demands of a fleet that cannot hold together, with their nodes, and what lifting one would change."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from gitcfg.model import Model, Origin
from gitcfg.model.rules import Rule, RuleKind
from gitcfg.solve.fleet.answers import Cause, Unsolved
from gitcfg.solve.fleet.base import natural
from gitcfg.solve.problem import Bound, Giving, Placing, Spot


def of_placing(problem: Placing, causes: Collection[str]) -> tuple[str, ...]:
    """Those of the groups that lack places or have too many by hand; else those of all groups."""
    bounds = [bound for bound in problem.bounds if bound.cause in causes]
    away = {fixed.spot for fixed in problem.fixed if not fixed.placed and fixed.cause in causes}
    there = {fixed.spot for fixed in problem.fixed if fixed.placed and fixed.cause in causes}
    tight = [bound for bound in bounds if _broken(bound, away, there)]
    members = [spot for bound in tight or bounds for spot in bound.members]
    return _nodes(slot for _, slot in members or away | there)


def _broken(bound: Bound, away: set[Spot], there: set[Spot]) -> bool:
    free = sum(spot not in away for spot in bound.members)
    held = sum(spot in there for spot in bound.members)
    return free < bound.least or (bound.most is not None and held > bound.most)


def of_giving(problem: Giving, causes: Collection[str]) -> tuple[str, ...]:
    """Those that have a value by hand in this, else all whose values are in question."""
    by_hand = [want.slot for want in problem.wants if want.by_hand and want.by_hand.cause in causes]
    return _nodes(by_hand or list(_within(problem, causes)))


def _within(problem: Giving, causes: Collection[str]) -> Iterator[str]:
    return (want.slot for want in problem.wants if any(one.cause in causes for one in want.within))


def _nodes(slots: Iterable[str]) -> tuple[str, ...]:
    """Slots of values go on with what they are about, behind a line's end."""
    return tuple(sorted({slot.partition("\n")[0].partition("/")[0] for slot in slots}, key=natural))


# Which single rule would let everything be decided, if what it demands were lifted.


def suggested(model: Model, found: Unsolved, solvable: Callable[[Model], bool]) -> Cause | None:
    """One of the rules that cannot hold together: no other would do. None: that one alone is not enough.

    What was found for a part of the problem (`suggestion`) is tried first: it nearly always is right. What a
    rule installs wherever it counts is of that rule.
    """
    places = {
        rule.feature.origin: rule.name
        for rule in model.rules.values()
        if rule.kind is RuleKind.INSTALL and rule.feature is not None
    }
    of_rules = [(cause, cause.rule or _installing(places, cause)) for cause in found.causes]
    for cause, name in sorted(of_rules, key=lambda pair: pair[0] != found.suggestion):
        if name in model.rules and solvable(_without(model, name, cause)):
            return cause
    # Without one of its demands the others of a rule may still be too much.
    parted = {cause.rule for cause in found.causes if cause.part}
    for rule in [rule for name, rule in model.rules.items() if name in parted]:
        rest = {name: said for name, said in model.rules.items() if name != rule.name}
        if solvable(replace(model, rules=rest)):
            return Cause(f"rule {rule.name}", (rule.origin,), rule.name)
    return None


def _installing(places: Mapping[Origin, str], cause: Cause) -> str:
    """The rule that installs what is there; nothing if none does."""
    return next((places[origin] for origin in cause.origins if origin in places), "")


def _without(model: Model, name: str, cause: Cause) -> Model:
    """A repository in which a rule does not demand this."""
    rules = dict(model.rules)
    left = _left(rules.pop(name), cause)
    if left is not None:
        rules[left.name] = left
    return replace(model, rules=rules)


def _left(rule: Rule, cause: Cause) -> Rule | None:
    """What a rule says beside it; None: nothing."""
    if rule.unique is not None and cause.part:
        return replace(rule, unique=None)
    domains = {name: said for name, said in rule.domains.items() if said.origin not in cause.origins}
    return replace(rule, domains=domains) if domains else None
