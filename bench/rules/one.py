"""`python -m bench.rules.one TOOL PROBLEM SIZE`: one solver at one problem; prints what it used, as JSON."""

import sys
import time

import msgspec

from bench.rules.problems import PROBLEMS, Problem, different, valid
from bench.rules.solvers import SOLVERS, Answer
from gitcfg.solve import PlacementProblem, ValueProblem


class Told(msgspec.Struct):
    """Seconds of CPU and of the clock, of the solving alone, and whether all holds that was asked for.

    `count`: spots that are placed, or slots with a value; `changes` of what stood.
    """

    cpu: float
    wall: float
    right: bool
    count: int
    changes: int


def solved(tool: str, problem: str, size: int) -> Told:
    """Solve, and look whether the answer is one."""
    posed = PROBLEMS[problem](size)
    begun = time.process_time(), time.monotonic()
    found = SOLVERS[tool](posed)
    cpu, wall = time.process_time() - begun[0], time.monotonic() - begun[1]
    return Told(cpu, wall, right(posed, found), len(found), changes(posed, found))


def right(problem: Problem, found: Answer) -> bool:
    """Is it an answer?"""
    if isinstance(problem, PlacementProblem) and isinstance(found, set):
        return valid(problem, found)
    return isinstance(problem, ValueProblem) and isinstance(found, dict) and different(problem, found)


def changes(problem: Problem, found: Answer) -> int:
    """How much of what stood is other now; of slots without a value before nothing is."""
    if isinstance(problem, PlacementProblem):
        return len(set(found) ^ set(problem.previous)) if problem.previous else 0
    values = dict(found) if isinstance(found, dict) else {}
    return sum(want.previous not in (None, values.get(want.slot)) for want in problem.wants)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(solved(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
