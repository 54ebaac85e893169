"""`python -m bench.rules.one TOOL PROBLEM SIZE`: one solver at one problem; prints what it used, as JSON."""

import sys
import time

import msgspec

from bench.rules import solvers
from bench.rules.problems import addresses, different, placements, valid

FEATURES = 30
GITCFG, SAT, ASP = "gitcfg", "CP-SAT", "clingo"
TOOLS = (GITCFG, SAT, ASP)
PLACEMENTS, ADDRESSES = "placements", "addresses"
_PLACE = {GITCFG: solvers.own_place, SAT: solvers.sat_place, ASP: solvers.asp_place}
_GIVE = {GITCFG: solvers.own_give, SAT: solvers.sat_give, ASP: solvers.asp_give}


class Told(msgspec.Struct):
    """Seconds of CPU and of the clock, of the solving alone, and whether all holds that was asked for."""

    cpu: float
    wall: float
    right: bool


def solved(tool: str, problem: str, size: int) -> Told:
    """Solve, and look whether the answer is one."""
    if problem == PLACEMENTS:
        placing = placements(size, FEATURES)
        begun = time.process_time(), time.monotonic()
        placed = _PLACE[tool](placing)
        return _told(begun, valid(placing, placed))
    giving = addresses(size)
    begun = time.process_time(), time.monotonic()
    values = _GIVE[tool](giving)
    return _told(begun, different(giving, values))


def _told(begun: tuple[float, float], right: bool) -> Told:
    return Told(time.process_time() - begun[0], time.monotonic() - begun[1], right)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(solved(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
