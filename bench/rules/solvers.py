"""The solvers: gitcfg's own, and the whole problem as it is given to CP-SAT and clingo.

These two find any answer; gitcfg finds the first of the best.
"""

import clingo
from ortools.sat.python import cp_model

from bench.rules.problems import EACH, MOST, RACK
from gitcfg.solve import Giving, Placing, Spot, Unsolvable, Within, give, place
from gitcfg.solve.giving import Value

Values = dict[str, Value]


def own_place(problem: Placing) -> set[Spot]:
    """gitcfg's."""
    found = place(problem)
    return set() if isinstance(found, Unsolvable) else set(found)


def own_give(problem: Giving) -> Values:
    """gitcfg's."""
    found = give(problem)
    return {} if isinstance(found, Unsolvable) else found


def sat_place(problem: Placing) -> set[Spot]:
    """CP-SAT with one worker: a variable a spot."""
    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    spots = {(thing, slot): model.new_bool_var("") for thing in problem.things for slot in problem.slots}
    for bound in problem.bounds:
        most = len(bound.members) if bound.most is None else bound.most
        model.add_linear_constraint(sum(spots[spot] for spot in bound.members), bound.least, most)
    model.minimize(sum(spots.values()))
    solver.parameters.num_workers = 1
    solver.solve(model)
    return {spot for spot, variable in spots.items() if solver.boolean_value(variable)}


def sat_give(problem: Giving) -> Values:
    """CP-SAT with one worker: a number a slot, and that they differ."""
    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    ranks = {one.cause: {value: n for n, value in enumerate(one.domain)} for one in _wholes(problem)}
    names = {cause: list(values) for cause, values in ranks.items()}
    slots = {}
    for want in problem.wants:
        whole, own = want.within
        allowed = cp_model.Domain.from_values([ranks[whole.cause][value] for value in own.domain])
        slots[want.slot] = model.new_int_var_from_domain(allowed, want.slot)
    for group in problem.apart:
        model.add_all_different([slots[slot] for slot in group.slots])
    solver.parameters.num_workers = 1
    solver.solve(model)
    of = {want.slot: names[want.within[0].cause] for want in problem.wants}
    return {slot: of[slot][solver.value(variable)] for slot, variable in slots.items()}


def _wholes(problem: Giving) -> list[Within]:
    found = {want.within[0].cause: want.within[0] for want in problem.wants}
    return list(found.values())


def asp_place(problem: Placing) -> set[Spot]:
    """clingo, as one would write it for racks of so many nodes."""
    nodes, things = len(problem.slots), len(problem.things)
    near = f"N=R*{RACK}..R*{RACK}+{RACK - 1}"
    lines = [
        f"{EACH} {{x(T,N) : {near}}} {EACH} :- T=0..{things - 1}, R=0..{nodes // RACK - 1}.",
        f":- N=0..{nodes - 1}, {MOST + 1} {{x(T,N) : T=0..{things - 1}}}.",
    ]
    found = _solved(lines)
    return {(problem.things[int(thing)], problem.slots[int(node)]) for thing, node in found}


def asp_give(problem: Giving) -> Values:
    """clingo: a choice a slot, and that no value is chosen twice in a group."""
    lines, names = [], [want.slot for want in problem.wants]
    number = {slot: n for n, slot in enumerate(names)}
    for want in problem.wants:
        values = ";".join(f'x({number[want.slot]},"{value}")' for value in want.within[1].domain)
        lines.append(f"1 {{{values}}} 1.")
    for n, group in enumerate(problem.apart):
        lines += [f"in({n},{number[slot]})." for slot in group.slots]
    lines += ["v(V) :- x(_,V).", "g(G) :- in(G,_).", ":- g(G), v(V), 2 {x(A,V) : in(G,A)}."]
    return {names[int(n)]: value for n, value in _solved(lines)}


def _solved(lines: list[str]) -> list[tuple[int | str, ...]]:
    """The atoms of the first answer."""
    control = clingo.Control()
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        for model in models:
            return [_atom(symbol) for symbol in model.symbols(atoms=True) if symbol.name == "x"]
    return []


def _atom(symbol: clingo.Symbol) -> tuple[int | str, ...]:
    number = clingo.SymbolType.Number
    return tuple(given.number if given.type == number else given.string for given in symbol.arguments)
