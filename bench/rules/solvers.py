"""The solvers: gitcfg's own, and the whole problem as it is given to CP-SAT and clingo.

All find as few changes of what stood. gitcfg breaks ties, too, so that its answer is one; they give any.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import and_
from typing import Any

from bench.rules.problems import Problem
from gitcfg.solve import (
    PlacementProblem,
    Spot,
    Unsolvable,
    Value,
    ValueProblem,
    ValueSlot,
    assign_values,
    place,
)

Answer = set[Spot] | dict[str, Value]
GITCFG, SAT, ASP = "gitcfg", "CP-SAT", "clingo"


def gitcfg(problem: Problem) -> Answer:
    """gitcfg's."""
    if isinstance(problem, PlacementProblem):
        placed = place(problem)
        return set() if isinstance(placed, Unsolvable) else set(placed)
    given = assign_values(problem)
    return {} if isinstance(given, Unsolvable) else given


def cp_sat(problem: Problem) -> Answer:
    """The whole as one model, with one worker as gitcfg has it."""
    from ortools.sat.python import cp_model

    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if isinstance(problem, PlacementProblem):
        spots = _spots(model, problem)
        solver.solve(model)
        return {spot for spot, one in spots.items() if solver.boolean_value(one)}
    names = _names(problem)
    slots = _slots(model, problem, {value: n for n, value in enumerate(names)})
    solver.solve(model)
    return {slot: names[solver.value(one)] for slot, one in slots.items()}


def _spots(model: Any, problem: PlacementProblem) -> dict[Spot, Any]:
    from ortools.sat.python import cp_model

    spots = {spot: model.new_bool_var("") for bound in problem.bounds for spot in bound.members}
    for bound in problem.bounds:
        most = len(bound.members) if bound.most is None else bound.most
        members = cp_model.LinearExpr.sum([spots[spot] for spot in bound.members])
        model.add_linear_constraint(members, bound.least, most)
    previous = set(problem.previous)
    if previous:  # else the bounds say how many it takes
        changed = [one.negated() if spot in previous else one for spot, one in spots.items()]
        model.minimize(cp_model.LinearExpr.sum(changed))
    return spots


def _slots(model: Any, problem: ValueProblem, number: Mapping[Value, int]) -> dict[str, Any]:
    """A number a slot: many times faster here than a choice a value."""
    from ortools.sat.python import cp_model

    slots, kept = dict[str, Any](), list[Any]()
    for want in problem.wants:
        able = cp_model.Domain.from_values([number[value] for value in _open(want)])
        slots[want.slot] = model.new_int_var_from_domain(able, want.slot)
        if want.previous is not None:
            kept.append(model.new_bool_var(""))
            model.add(slots[want.slot] == number[want.previous]).only_enforce_if(kept[-1])
    for group in problem.apart:
        model.add_all_different([slots[slot] for slot in group.slots])
    if kept:
        model.maximize(cp_model.LinearExpr.sum(kept))
    return slots


def _names(problem: ValueProblem) -> list[Value]:
    """All values that are open to any slot."""
    return list({value: None for want in problem.wants for value in _open(want)})


def clingo(problem: Problem) -> Answer:
    """The whole as one logic program, minimised by unsatisfiable cores."""
    if isinstance(problem, PlacementProblem):
        spots = list({spot: None for bound in problem.bounds for spot in bound.members})
        return {spots[number] for (number,) in _atoms(_placing(problem, spots))}
    slots = [want.slot for want in problem.wants]
    values = _names(problem)
    return {slots[n]: values[value] for n, value in _atoms(_giving(problem, values))}


def _atoms(lines: Iterator[str]) -> list[tuple[int, ...]]:
    """What is in the last answer, which is the best where something is to be minimised."""
    import clingo as asp

    control = asp.Control(["--opt-strategy=usc"])  # many times faster here than its default
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    found: list[tuple[int, ...]] = []
    with control.solve(yield_=True) as models:
        for model in models:
            symbols = model.symbols(shown=True)
            found = [tuple(each.number for each in symbol.arguments) for symbol in symbols]
    return found


def _placing(problem: PlacementProblem, spots: list[Spot]) -> Iterator[str]:
    number = {spot: n for n, spot in enumerate(spots)}
    for index, bound in enumerate(problem.bounds):
        yield " ".join(f"in({index},{number[spot]})." for spot in bound.members)
        most = len(bound.members) if bound.most is None else bound.most
        yield f"bound({index},{bound.least},{most})."
    yield " ".join(f"stood({number[spot]})." for spot in problem.previous if spot in number)
    yield "{x(N)} :- in(_,N). :- bound(I,L,M), not L <= #count{N : x(N), in(I,N)} <= M."
    yield "#show x/1. #defined stood/1."
    if problem.previous:
        yield ":~ stood(N), not x(N). [1,N] :~ x(N), not stood(N). [1,N]"


def _giving(problem: ValueProblem, values: list[Value]) -> Iterator[str]:
    number = {value: n for n, value in enumerate(values)}
    place = {want.slot: n for n, want in enumerate(problem.wants)}
    for n, want in enumerate(problem.wants):
        yield " ".join(f"open({n},{number[value]})." for value in _open(want))
        yield f"stood({n},{number[want.previous]})." if want.previous is not None else ""
    for n, group in enumerate(problem.apart):
        yield " ".join(f"in({n},{place[slot]})." for slot in group.slots)
    yield "{x(N,V) : open(N,V)} = 1 :- open(N,_). g(G) :- in(G,_). v(V) :- open(_,V)."
    yield ":- g(G), v(V), 2 {x(N,V) : in(G,N)}."
    yield ":~ stood(N,V), not x(N,V). [1,N] #show x/2. #defined stood/2."


def _open(want: ValueSlot) -> Iterator[Value]:
    """The values that are in all domains of a slot."""
    return iter(reduce(and_, (one.domain for one in want.within)))


SOLVERS: Mapping[str, Callable[[Problem], Answer]] = {GITCFG: gitcfg, SAT: cp_sat, ASP: clingo}
