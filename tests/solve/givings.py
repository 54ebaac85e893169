"""Random small problems of values, and the answer by trying everything."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gitcfg.solve import AllDifferent, GivenValue, InDomain, Value, ValueProblem, ValueSlot
from tests.solve.span import Span

HIGHEST = 5


@st.composite
def givings(draw: DrawFn) -> ValueProblem:
    """Up to five slots, as many values, and groups that overlap."""
    rules = {
        f"pool {n}": Span(*sorted(draw(st.tuples(*[st.integers(1, HIGHEST)] * 2))))
        for n in range(draw(st.integers(1, 3)))
    }
    slots = [f"s{n}" for n in range(draw(st.integers(1, 5)))]
    groups = draw(st.lists(st.lists(st.sampled_from(slots), max_size=5), max_size=3))
    return ValueProblem(
        wants=[_want(draw, slot, rules) for slot in slots],
        apart=[AllDifferent(f"apart {n}", members) for n, members in enumerate([*groups, slots])][
            : len(groups) + draw(st.integers(0, 1))
        ],
    )


def _want(draw: DrawFn, slot: str, rules: Mapping[str, Span]) -> ValueSlot:
    names = draw(st.lists(st.sampled_from(sorted(rules)), min_size=1, max_size=2))
    value = st.one_of(st.none(), st.none(), st.integers(1, HIGHEST))
    by_hand = draw(value) if draw(st.integers(0, 2)) == 0 else None
    return ValueSlot(
        slot,
        [InDomain(name, rules[name]) for name in names],
        draw(value),
        None if by_hand is None else GivenValue(f"{slot} by hand", by_hand),
    )


def answers(problem: ValueProblem) -> Iterator[Mapping[str, Value]]:
    """All there are, with what is set by hand; the first of those equally good comes first."""
    for choice in product(*(_open(want) for want in problem.wants)):
        values = {want.slot: value for want, value in zip(problem.wants, choice, strict=True)}
        if all(_differ(apart.slots, values) for apart in problem.apart):
            yield values


def _open(want: ValueSlot) -> Sequence[Value]:
    able = [n for n in range(1, HIGHEST + 1) if all(n in one.domain for one in want.within)]
    return [n for n in able if n == want.by_hand.value] if want.by_hand else able


def _differ(slots: Sequence[str], values: Mapping[str, Value]) -> bool:
    known = sorted({slot for slot in slots if slot in values})
    return all(values[one] != values[other] for one, other in combinations(known, 2))


def best(problem: ValueProblem) -> dict[str, Value] | None:
    """The one that is asked for."""
    found = min(answers(problem), key=lambda values: _cost(problem, values), default=None)
    if found is None:
        return None
    return {want.slot: found[want.slot] for want in problem.wants if not want.by_hand}


def _cost(problem: ValueProblem, values: Mapping[str, Value]) -> tuple[int, list[bool]]:
    lost = [
        values[want.slot] != want.previous for want in problem.wants if want.previous and not want.by_hand
    ]
    return sum(lost), lost
