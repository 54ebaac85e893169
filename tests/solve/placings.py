"""Random small problems of placement, and the answer by trying everything."""

from collections.abc import Collection, Iterator
from itertools import product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import replace

from gitcfg.solve import Bound, Excludes, Fixed, Implies, PlacementProblem, Spot

RULES = ("r1", "r2", "r3", "r4")


@st.composite
def placings(draw: DrawFn) -> PlacementProblem:
    """Up to nine spots, few of them alike; about half have an answer."""
    things = [f"t{n}" for n in range(draw(st.integers(1, 3)))]
    slots = [f"s{n}" for n in range(draw(st.integers(1, 3)))]
    spot = st.tuples(st.sampled_from(things), st.sampled_from(slots))
    rule = st.sampled_from(RULES)
    few = st.integers(0, 2)
    return PlacementProblem(
        things=things,
        slots=slots,
        bounds=draw(st.lists(_bounds(rule, spot), min_size=1, max_size=5)),
        fixed=[
            Fixed(f"by hand {n}", *each)
            for n, each in enumerate(draw(st.lists(st.tuples(spot, st.booleans()), max_size=2)))
        ],
        implied=[
            Implies(draw(st.sampled_from(("needs", "includes"))), draw(spot), draw(spot))
            for _ in range(draw(few))
        ],
        excluded=[Excludes("conflict", draw(spot), draw(spot)) for _ in range(draw(few))],
        previous=draw(st.lists(spot, max_size=5)) + draw(st.lists(st.just(("gone", "s1")), max_size=1)),
    )


@st.composite
def _bounds(draw: DrawFn, rule: st.SearchStrategy[str], spot: st.SearchStrategy[Spot]) -> Bound:
    least = draw(st.integers(0, 2))
    most = draw(st.one_of(st.none(), st.integers(least, 3)))
    return Bound(draw(rule), least, most, draw(st.lists(spot, min_size=1, max_size=6)))


def only(problem: PlacementProblem, causes: Collection[str]) -> PlacementProblem:
    """What has one of these causes."""
    return replace(
        problem,
        bounds=[one for one in problem.bounds if one.cause in causes],
        fixed=[one for one in problem.fixed if one.cause in causes],
        implied=[one for one in problem.implied if one.cause in causes],
        excluded=[one for one in problem.excluded if one.cause in causes],
    )


def causes(problem: PlacementProblem) -> set[str]:
    """All that there are."""
    parts = (problem.bounds, problem.fixed, problem.implied, problem.excluded)
    return {one.cause for part in parts for one in part}


def spots(problem: PlacementProblem) -> list[Spot]:
    """Those that are named, in canonical order."""
    found = {spot for bound in problem.bounds for spot in bound.members}
    found |= {one.spot for one in problem.fixed}
    found |= {spot for one in problem.implied for spot in (one.spot, one.needs)}
    found |= {spot for one in problem.excluded for spot in (one.one, one.other)}
    return sorted(found)


def standing(problem: PlacementProblem) -> set[Spot]:
    """What stood and may still be asked for."""
    wanted = {spot for bound in problem.bounds if bound.least for spot in bound.members}
    wanted |= {one.needs for one in problem.implied if one.spot != one.needs}
    wanted |= {one.spot for one in problem.fixed if one.placed}
    return wanted.intersection(problem.previous)


def holds(problem: PlacementProblem, placed: Collection[Spot]) -> bool:
    """Does everything hold?"""
    return (
        all(_within(bound, len(set(bound.members).intersection(placed))) for bound in problem.bounds)
        and all((one.spot in placed) is one.placed for one in problem.fixed)
        and all(one.spot not in placed or one.needs in placed for one in problem.implied)
        and all(not (one.one in placed and one.other in placed) for one in problem.excluded)
    )


def _within(bound: Bound, count: int) -> bool:
    return bound.least <= count and (bound.most is None or count <= bound.most)


def answers(problem: PlacementProblem) -> Iterator[frozenset[Spot]]:
    """All there are: what is placed, fixed spots too; the first of those equally good comes first."""
    previous = standing(problem)
    named = sorted(spots(problem), key=lambda spot: spot not in previous)
    for choice in product((True, False), repeat=len(named)):
        placed = frozenset(spot for spot, taken in zip(named, choice, strict=True) if taken)
        if holds(problem, placed):
            yield placed


def best(problem: PlacementProblem) -> tuple[Spot, ...] | None:
    """The one that is asked for."""
    previous, fixed = standing(problem), {one.spot for one in problem.fixed}
    found = min(answers(problem), key=lambda placed: (len(placed ^ previous), len(placed)), default=None)
    return None if found is None else tuple(sorted(found - fixed))
