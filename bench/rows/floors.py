"""The rows of the floors: what reading, parsing, printing, hashing and writing cost whatever the program."""

from collections.abc import Iterator
from pathlib import Path

from bench.floors import WORK
from bench.measure import Row
from bench.rows.fleet import Prepared

_PROGRAM = Path(__file__).parents[1] / "floors.py"


def floor_rows(ready: Prepared) -> Iterator[Row]:
    """One program does one of them and times its work alone, without start and imports."""
    for name in WORK:
        arguments = (ready.python, "-P", str(_PROGRAM), name, ready.name, str(ready.repository))
        environment = {"PYTHONPATH": str(_PROGRAM.parents[1])}
        command = ready.command(*arguments, str(ready.folder / "floor"), environment=environment)
        nodes = len(ready.fleet.nodes)
        yield Row(fleet=ready.name, tool="floor", work=name, command=command, nodes=nodes, inner=True)
