"""The nodes about which demands are that cannot hold together."""

from collections.abc import Collection, Iterable, Iterator

from gitcfg.solve.fleet.natural import natural
from gitcfg.solve.giving import Giving
from gitcfg.solve.placing import Bound, Placing, Spot


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
