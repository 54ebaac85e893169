"""The ways to solve them. All find as few changes; gitcfg alone breaks ties, so that its answer is one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gitcfg.solve import Giving, Placing, Unsolvable, give, place

Cost = tuple[int, int]
"""Changes of what stood; spots that are placed, or slots with a value."""


def gitcfg(problem: Placing | Giving) -> Cost:
    """As gitcfg does it."""
    if isinstance(problem, Placing):
        placed = place(problem)
        assert not isinstance(placed, Unsolvable)
        return len(set(placed) ^ set(problem.stood)), len(placed)
    given = give(problem)
    assert not isinstance(given, Unsolvable)
    stood = [want for want in problem.wants if want.stood is not None]
    return sum(given[want.slot] != want.stood for want in stood), len(given)


def cp_sat(problem: Placing | Giving) -> Cost:
    """The whole as one model, with one worker as gitcfg has it."""
    from ortools.sat.python import cp_model

    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    solver.parameters.num_workers = 1
    found = _placing(model, problem) if isinstance(problem, Placing) else _giving(model, problem)
    assert solver.solve(model) == cp_model.OPTIMAL
    changed, all_of = found
    return sum(solver.boolean_value(one) for one in changed), sum(solver.boolean_value(one) for one in all_of)


def _placing(model: Any, problem: Placing) -> tuple[list[Any], list[Any]]:
    from ortools.sat.python import cp_model

    spots = {spot: model.new_bool_var("") for bound in problem.bounds for spot in bound.members}
    for bound in problem.bounds:
        most = len(bound.members) if bound.most is None else bound.most
        members = cp_model.LinearExpr.sum([spots[spot] for spot in bound.members])
        model.add_linear_constraint(members, bound.least, most)
    stood = set(problem.stood)
    changed = [one.negated() if spot in stood else one for spot, one in spots.items()]
    if stood:  # else the bounds say how many it takes
        model.minimize(cp_model.LinearExpr.sum(changed))
    return changed, list(spots.values())


def _giving(model: Any, problem: Giving) -> tuple[list[Any], list[Any]]:
    from ortools.sat.python import cp_model

    changed, every, sharing = list[Any](), list[Any](), dict[object, list[Any]]()
    for want in problem.wants:
        own = {value: model.new_bool_var("") for one in want.within for value in one.domain}
        model.add_exactly_one(own.values())
        every += own.values()
        changed += [own[want.stood].negated()] if want.stood is not None else []
        for value, one in own.items():
            sharing.setdefault(value, []).append(one)
    for several in sharing.values():
        model.add_at_most_one(several)
    model.minimize(cp_model.LinearExpr.sum(changed))
    return changed, every


def clingo(problem: Placing | Giving) -> Cost:
    """The whole as one logic program, minimised by unsatisfiable cores."""
    import clingo as asp

    control = asp.Control(["--opt-strategy=usc"])  # many times faster here than its default
    lines = _spots(problem) if isinstance(problem, Placing) else _values(problem)
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    found = (0, 0)
    with control.solve(yield_=True) as models:
        for one in models:  # of one that is to be minimised, the last is the best
            names = [symbol.name for symbol in one.symbols(shown=True)]
            found = names.count("changed"), names.count("x")
    return found


def _spots(problem: Placing) -> Iterator[str]:
    number = {spot: n for n, spot in enumerate({s: 0 for bound in problem.bounds for s in bound.members})}
    for index, bound in enumerate(problem.bounds):
        yield " ".join(f"in({index},{number[spot]})." for spot in bound.members)
        most = len(bound.members) if bound.most is None else bound.most
        yield f"bound({index},{bound.least},{most})."
    yield " ".join(f"stood({number[spot]})." for spot in problem.stood if spot in number)
    yield "{x(N)} :- in(_,N). :- bound(I,L,M), not L <= #count{N : x(N), in(I,N)} <= M."
    yield "changed(N) :- stood(N), not x(N). changed(N) :- x(N), not stood(N)."
    yield "#show x/1. #show changed/1. #defined stood/1."
    if problem.stood:  # else the bounds say how many it takes
        yield ":~ changed(N). [1,N]"


def _values(problem: Giving) -> Iterator[str]:
    for number, want in enumerate(problem.wants):
        yield " ".join(f"open({number},{value})." for one in want.within for value in one.domain)
        yield f"stood({number},{want.stood})." if want.stood is not None else ""
    yield "{x(N,V) : open(N,V)} = 1 :- open(N,_). :- open(_,V), #count{N : x(N,V)} > 1."
    yield "changed(N) :- stood(N,V), not x(N,V)."
    yield ":~ changed(N). [1,N] #show x/2. #show changed/1. #defined stood/2."


WAYS: Mapping[str, Callable[[Placing | Giving], Cost]] = {
    "gitcfg": gitcfg,
    "CP-SAT, the whole": cp_sat,
    "clingo, the whole": clingo,
}
