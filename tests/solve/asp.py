"""The same problem for clingo, a solver of another kind: what it finds best, tie by tie."""

from collections.abc import Iterator

import clingo

from gitcfg.solve import PlacementProblem, Spot
from tests.solve.placings import spots, standing


def best(problem: PlacementProblem) -> tuple[Spot, ...] | None:
    """The one answer that is asked for, without what is fixed; None: there is none."""
    named = spots(problem)
    control = clingo.Control(["--opt-strategy=usc,stratify"])  # one tie at a time: else it takes minutes
    control.add("base", [], "\n".join(_program(problem, {spot: rank for rank, spot in enumerate(named)})))
    control.ground([("base", [])])
    found: set[int] | None = None
    with control.solve(yield_=True) as models:
        for model in models:
            found = {symbol.arguments[0].number for symbol in model.symbols(atoms=True) if symbol.name == "x"}
    if found is None:
        return None
    fixed = {one.spot for one in problem.fixed}
    return tuple(spot for rank, spot in enumerate(named) if rank in found and spot not in fixed)


def _program(problem: PlacementProblem, rank: dict[Spot, int]) -> Iterator[str]:
    count = len(rank)
    previous = standing(problem)
    order = sorted(rank, key=lambda spot: spot not in previous)
    for place, spot in enumerate(order):
        number = rank[spot]
        yield f"{{x({number})}}."
        changed = f"not x({number})" if spot in previous else f"x({number})"
        yield f":~ {changed}. [1@{count + 2},{number}]"
        yield f":~ x({number}). [1@{count + 1},{number}]"
        yield f":~ not x({number}). [1@{count - place}]"
    for bound in problem.bounds:
        members = "; ".join(f"{number} : x({number})" for number in {rank[spot] for spot in bound.members})
        most = "#sup" if bound.most is None else bound.most
        yield f":- not {bound.least} <= #count {{ {members} }} <= {most}."
    for fixed in problem.fixed:
        yield f":- {'not ' if fixed.placed else ''}x({rank[fixed.spot]})."
    for implied in problem.implied:
        yield f":- x({rank[implied.spot]}), not x({rank[implied.needs]})."
    for pair in problem.excluded:
        yield f":- x({rank[pair.one]}), x({rank[pair.other]})."
