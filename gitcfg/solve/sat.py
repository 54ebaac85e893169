"""CP-SAT asked so that answers are alike everywhere: one worker, a fixed seed, work counted and not timed."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from ortools.sat.python import cp_model

from gitcfg.solve.answer import Budget
from gitcfg.solve.rows import Row

AT_ONCE = 40
"""Variables whose order is decided by one search: a power of two each, and all must fit in 64 bits."""


class Model:
    """Variables that are true or false, by number, and what must hold among them.

    What has a cause holds only where the cause is among those assumed.
    """

    def __init__(self, variables: Iterable[int], budget: Budget) -> None:
        self._budget = budget
        self._model = cp_model.CpModel()
        self._vars = {number: self._model.new_bool_var("") for number in variables}
        self._causes: dict[str, cp_model.IntVar] = {}
        self._last: frozenset[int] = frozenset()

    def add(self, row: Row, cause: str | None = None) -> None:
        """What a row says."""
        found = [self._vars[number] for number in row.members]
        if row.arrow:
            held = self._model.add_bool_or(found[0].negated(), found[1])
        else:
            held = self._model.add_linear_constraint(cp_model.LinearExpr.sum(found), row.least, row.most)
        if cause is not None:
            held.only_enforce_if(self._cause(cause))

    def fix(self, number: int, value: bool) -> None:
        """A variable has this value."""
        self._model.add(self._vars[number] == int(value))

    def solve(self) -> frozenset[int] | None:
        """Those that are true in an answer; None: there is none."""
        self._model.clear_hints()  # type: ignore[no-untyped-call]
        for number, variable in self._vars.items():
            self._model.add_hint(variable, number in self._last)
        solver, status = self._run()
        if status == cp_model.INFEASIBLE:
            return None
        self._last = frozenset(number for number, found in self._vars.items() if solver.boolean_value(found))
        return self._last

    def least(self, weights: Mapping[int, int]) -> frozenset[int] | None:
        """An answer of least weight; None: there is no answer."""
        self._model.minimize(self._total(weights))
        found = self.solve()
        self._model.clear_objective()  # type: ignore[no-untyped-call]
        return found

    def hold(self, weights: Mapping[int, int], found: Collection[int]) -> None:
        """Answers from now on weigh as much as this one."""
        self._model.add(self._total(weights) == sum(weights[number] for number in found))

    def conflict(self) -> Collection[str]:
        """Causes that cannot hold together, in what has no answer if all are assumed."""
        self._model.add_assumptions(list(self._causes.values()))
        solver, status = self._run()
        assert status == cp_model.INFEASIBLE
        found = set(solver.sufficient_assumptions_for_infeasibility())
        return [cause for cause, variable in self._causes.items() if variable.index in found]

    def _total(self, weights: Mapping[int, int]) -> cp_model.LinearExpr:
        return cp_model.LinearExpr.weighted_sum([self._vars[n] for n in weights], list(weights.values()))

    def _cause(self, name: str) -> cp_model.IntVar:
        if name not in self._causes:
            self._causes[name] = self._model.new_bool_var("")
        return self._causes[name]

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
    """The answer with the first of these that it can have, then the next: from now on it has them.

    `found` is an answer.
    """
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        if not found.issuperset(some):
            weights = {number: -(1 << (AT_ONCE - rank)) for rank, number in enumerate(some)}
            found = model.least(weights) or found
        for number in some:
            model.fix(number, number in found)
    return found
