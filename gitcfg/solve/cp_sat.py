"""CP-SAT with the same results everywhere: one worker, a fixed seed, work counted instead of timed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ortools.sat.python import cp_model

from gitcfg.solve.conflicts import Budget, Exhausted
from gitcfg.solve.problem import PlacementComponent, Row, Rows, Value, ValueComponent

AT_ONCE = 40
"""The variables in one lexicographic search: each weighs a power of two, and all must fit in 64 bits."""


class Model:
    """Boolean variables by number, and constraints on them.

    A constraint with a cause is active only if the cause is assumed.
    """

    def __init__(self, variables: Iterable[int], budget: Budget) -> None:
        self._budget = budget
        self._model = cp_model.CpModel()
        self._vars = {number: self._model.new_bool_var("") for number in variables}
        self._causes: dict[str, cp_model.IntVar] = {}
        self._last: frozenset[int] = frozenset()

    def add(self, row: Row, cause: str | None = None) -> None:
        """Add the constraint of a row."""
        found = [self._vars[number] for number in row.members]
        if row.arrow:
            held = self._model.add_bool_or(found[0].negated(), found[1])
        else:
            held = self._model.add_linear_constraint(cp_model.LinearExpr.sum(found), row.least, row.most)
        if cause is not None:
            if cause not in self._causes:
                self._causes[cause] = self._model.new_bool_var("")
            held.only_enforce_if(self._causes[cause])

    def fix(self, number: int, value: bool) -> None:
        """Fix the value of a variable."""
        self._model.add(self._vars[number] == int(value))

    def solve(self) -> frozenset[int] | None:
        """Return the true variables of a solution; None: there is none."""
        self._model.clear_hints()  # type: ignore[no-untyped-call]
        for number, variable in self._vars.items():
            self._model.add_hint(variable, number in self._last)
        solver, status = self._run()
        if status == cp_model.INFEASIBLE:
            return None
        self._last = frozenset(number for number, found in self._vars.items() if solver.boolean_value(found))
        return self._last

    def least(self, weights: Mapping[int, int]) -> frozenset[int] | None:
        """Return a solution of least weight; None: there is none."""
        self._model.minimize(self._total(weights))
        found = self.solve()
        self._model.clear_objective()  # type: ignore[no-untyped-call]
        return found

    def hold(self, weights: Mapping[int, int], found: Collection[int]) -> None:
        """Require that solutions have the same weight as this one."""
        self._model.add(self._total(weights) == sum(weights[number] for number in found))

    def conflict(self) -> Collection[str]:
        """Return causes that contradict each other. There must be no solution if all causes are assumed."""
        self._model.add_assumptions(list(self._causes.values()))
        solver, status = self._run()
        assert status == cp_model.INFEASIBLE
        found = set(solver.sufficient_assumptions_for_infeasibility())
        return [cause for cause, variable in self._causes.items() if variable.index in found]

    def _total(self, weights: Mapping[int, int]) -> cp_model.LinearExpr:
        return cp_model.LinearExpr.weighted_sum([self._vars[n] for n in weights], list(weights.values()))

    def _run(self) -> tuple[cp_model.CpSolver, cp_model.CpSolverStatus]:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        solver.parameters.max_deterministic_time = self._budget.left()
        status = solver.solve(self._model)
        self._budget.spend(solver.response_proto.deterministic_time)
        if status not in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
            raise self._budget.exhausted()
        return solver, status


def first(model: Model, numbers: Sequence[int], found: frozenset[int]) -> frozenset[int]:
    """Return the solution with the first of these variables that can be true, then the next, and fix them.

    `found` is a solution.
    """
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        if not found.issuperset(some):
            weights = {number: -(1 << (AT_ONCE - rank)) for rank, number in enumerate(some)}
            found = model.least(weights) or found
        for number in some:
            model.fix(number, number in found)
    return found


# The best solution of one component, by CP-SAT.

_CORE = 0.5
"""The work for a quick search for a contradiction: counting arguments are found only without causes."""


def some(part: PlacementComponent, budget: Budget) -> frozenset[int] | None:
    """Return any solution; None: there is none."""
    return _model(part, budget).solve()


def best(part: PlacementComponent, budget: Budget) -> frozenset[int] | None:
    """Return the solution with the fewest changes, then the fewest spots, then the first spots."""
    model = _model(part, budget)
    change = len(part.numbers) + 1
    weights = {number: 1 + (-change if number in part.previous else change) for number in part.numbers}
    found = model.least(weights)
    if found is None:
        return None
    model.hold(weights, found)
    return _First(part, model).after(found)


def core(rows: Rows, indices: Collection[int]) -> frozenset[int]:
    """Return a contradictory subset of contradictory rows, as small as a quick search finds."""
    found = rows.some(indices)
    model = Model(found.of, Budget(_CORE))
    for row in found.rows:
        model.add(row, row.cause)
    try:
        causes = model.conflict()
    except Exhausted:
        return frozenset(indices)
    return frozenset(index for index in indices if rows.rows[index].cause in causes)


def _model(part: PlacementComponent, budget: Budget) -> Model:
    model = Model(part.numbers, budget)
    for row in part.rows:
        model.add(row)
    return model


class _First:
    """Finds the solution whose spots come first, among solutions with the same number of spots."""

    def __init__(self, part: PlacementComponent, model: Model) -> None:
        self._model = model
        self._waiting = list(reversed(part.numbers))
        self._room = [row.most for row in part.rows]
        self._of: dict[int, list[int]] = {number: [] for number in part.numbers}
        for index, row in enumerate(part.rows):
            for number in () if row.arrow else row.members:
                self._of[number].append(index)

    def after(self, found: frozenset[int]) -> frozenset[int]:
        """Return the first solution; `found` is one that is otherwise as good."""
        left = len(found)
        while left:
            some = self._next(found)
            found = first(self._model, some, found)
            taken = found.intersection(some)
            for index in (index for number in taken for index in self._of[number]):
                self._room[index] -= 1
            left -= len(taken)
        return found

    def _next(self, found: frozenset[int]) -> list[int]:
        """Return the next spots that the fixed ones permit.

        If the first one is in `found`, return only it.
        """
        some: list[int] = []
        while self._waiting and len(some) < AT_ONCE:
            if self._waiting[-1] in found and not some:
                return [self._waiting.pop()]
            number = self._waiting.pop()
            if all(self._room[index] for index in self._of[number]):
                some.append(number)
        return some


# Values for one component of slots by CP-SAT: which are kept, and values where groups overlap.

_MOST = 1_000_000
"""The maximum number of pairs of slot and value: more would certainly exceed the budget."""


class Assigning:
    """The possible values of a component, as a model.

    Raises:
        Exhausted: It is too large.
    """

    def __init__(self, kin: ValueComponent, budget: Budget) -> None:
        if sum(map(len, kin.open)) > _MOST:
            raise budget.exhausted()
        self._kin = kin
        self._pairs = [(slot, value) for slot in range(len(kin.slots)) for value in kin.values(slot)]
        self._groups = [
            [n for n, group in enumerate(kin.groups) if slot in group] for slot in range(len(kin.slots))
        ]
        self._of: list[dict[Value, int]] = [{} for _ in kin.slots]
        for number, (slot, value) in enumerate(self._pairs):
            self._of[slot][value] = number
        self._model = Model(range(len(self._pairs)), budget)
        for row in self._rows():
            self._model.add(row)

    def some(self) -> dict[int, Value] | None:
        """Return any solution; None: there is none."""
        found = self._model.solve()
        return None if found is None else self._values(found)

    def keep(self) -> dict[int, Value]:
        """Return the slots that keep their values, as many as possible, then the first; fix these values."""
        former = [self._of[slot][value] for slot, value in enumerate(self._kin.keeps) if value is not None]
        if not former:
            return {}
        weights = dict.fromkeys(former, -1)
        found = (self._model.least(weights) or frozenset()).intersection(former)
        self._model.hold(weights, found)
        return self._values(first(self._model, former, found).intersection(former))

    def best(self) -> dict[int, Value]:
        """Return the best solution: each slot in turn has the first value that leaves one for later slots."""
        given = self.keep()
        found = self._model.solve() or frozenset()
        for slot in range(len(self._of)):
            others = (other for group in self._groups[slot] for other in self._kin.groups[group])
            near = {given[other] for other in others if other != slot and other in given}
            ranks = [self._of[slot][value] for value in self._kin.values(slot) if value not in near]
            if slot not in given and ranks[0] not in found:
                found = self._model.least({n: rank for rank, n in enumerate(ranks)}) or found
            given[slot] = next(value for value, number in self._of[slot].items() if number in found)
            self._model.fix(self._of[slot][given[slot]], True)
        return given

    def _values(self, found: frozenset[int]) -> dict[int, Value]:
        return dict(self._pairs[number] for number in sorted(found))

    def _rows(self) -> Iterator[Row]:
        """Yield the constraints that each slot has one value, and each value at most one slot per group."""
        for numbers in self._of:
            yield Row("", 1, 1, list(numbers.values()))
        for group in self._kin.groups:
            sharing: dict[Value, list[int]] = defaultdict(list)
            for slot in group:
                for value, number in self._of[slot].items():
                    sharing[value].append(number)
            yield from (Row("", 0, 1, numbers) for numbers in sharing.values() if len(numbers) > 1)
