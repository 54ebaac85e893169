"""GC307 beside HTCondor's parser alone: the same files in a bare loop on as many processors, in one run."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import msgspec

from gitcfg.check.target_parsers import ParserRequests, parsed
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.generate.options import Operations, Types, large
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.parsers.parsers import Parsers
from gitcfg.render.templates import TemplateEngine

Pair = tuple[float, float]  # seconds, and seconds of processor time

RUNS = 3
NODES = 4000
BARE = """
import os, sys, time
import msgspec
from gitcfg.parsers.child import htcondor

texts = msgspec.msgpack.decode(open(sys.argv[1], "rb").read())[int(sys.argv[2]) :: int(sys.argv[3])]
os.chdir(sys.argv[4])
htcondor.htcondor()
take = htcondor.taker(htcondor.bindings(), htcondor.KEEP_DEFAULTS)
files = sys.argv[5] == "files"
print(flush=True)
sys.stdin.readline()
start, used = time.perf_counter(), time.process_time()
for text in texts:
    if files:
        with open("file", "wb") as file:
            file.write(text)
    take(text)
print(time.perf_counter() - start, time.process_time() - used)
"""
"""A share of the texts through HTCondor's parser and no more; it begins when it is told.

Each text is written over the one before in a file that stays open, as GC307 does; `files`: besides it is
written to a file that is made for it, which is what anybody would do at first.
"""


def fleet(nodes: int) -> Fleet:
    """The large fleet with as many nodes, each a class of its own with one file of some 560 parameters."""
    options = msgspec.structs.replace(
        large(),
        nodes=nodes,
        sets=0.0,
        feature_params=6,
        group_params=17,
        operations=Operations(set=1, **dict.fromkeys(_OTHERS, 0)),
        types=Types(list=0, map=0, expression=0, any=0),
        instances=0.0,
        without=0.0,
        overrides=0,
    )
    return compile_tree(DictTree(repository(options)), date(2026, 1, 1))


_OTHERS = [name for name in Operations.__struct_fields__ if name != "set"]


def texts(compiled: Fleet, engine: TemplateEngine) -> list[bytes]:
    """Each distinct text that there is a question about."""
    requests = ParserRequests(compiled, engine, Parsers(), set())
    asked = [requests.about(kind, entry) for kind in compiled.judged for entry in kind.files.values()]
    return list({question.text.encode(): None for question in asked if question})


def bare(file: Path, workers: int, how: str) -> Pair:
    """Seconds, and seconds of processor time, of the parser alone."""
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for worker in range(workers):
            place = Path(folder, str(worker))
            place.mkdir()
            commands.append(
                [sys.executable, "-c", BARE, str(file), str(worker), str(workers), str(place), how]
            )
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        loops = [subprocess.Popen(command, text=True, **pipes) for command in commands]  # type: ignore[call-overload]
        for loop in loops:
            loop.stdout.readline()
        for loop in loops:
            loop.stdin.write("\n")
            loop.stdin.flush()
        found = [[float(word) for word in loop.communicate()[0].split()] for loop in loops]
    return max(wall for wall, _ in found), sum(used for _, used in found)


def whole(compiled: Fleet, engine: TemplateEngine, workers: int) -> tuple[float, float, float]:
    """Seconds of GC307, and seconds of processor time here and in the children, their start included."""
    start, used, before = time.perf_counter(), time.process_time(), _children()
    with Parsers(workers) as parsers:
        for finding in parsed(compiled, engine, parsers, ()):
            print(finding.message)
        wall = time.perf_counter() - start
    return wall, time.process_time() - used, _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print medians; all take turns, so that what else runs hits them alike."""
    workers = len(os.sched_getaffinity(0))
    compiled = fleet(int(sys.argv[1]) if len(sys.argv) > 1 else NODES)
    _ = compiled.surfaces  # of a fleet that is checked
    rounds = []
    with tempfile.TemporaryDirectory() as folder, TemplateEngine(compiled.templates) as engine:
        found = texts(compiled, engine)
        file = Path(folder, "texts")
        file.write_bytes(msgspec.msgpack.encode(found))
        for _ in range(RUNS):
            whole_one = whole(compiled, engine, workers)
            rounds.append((bare(file, workers, "kept"), bare(file, workers, "files"), whole_one))
    print(f"{len(found)} texts of {sum(map(len, found)) // len(found)} bytes, {workers} workers; ms a text")
    print(f"{'':<34}{'wall':>8}{'CPU':>8}{'x wall':>8}{'x CPU':>8}")
    for number, name in enumerate(("the parser itself", "the parser, a file made for each")):
        _row(name, [(turn[number], turn[0]) for turn in rounds], 1000 / len(found))
    _row("GC307", [((turn[2][0], sum(turn[2][1:])), turn[0]) for turn in rounds], 1000 / len(found))
    here = statistics.median(turn[2][1] for turn in rounds) * 1000 / len(found)
    print(f"{'of which in the parent':<34}{'':>8}{here:>8.3f}")


def _row(name: str, turns: list[tuple[Pair, Pair]], each: float) -> None:
    walls, used = ([turn[0][place] for turn in turns] for place in (0, 1))
    times = [[turn[0][place] / turn[1][place] for turn in turns] for place in (0, 1)]
    middle = [statistics.median(column) for column in (walls, used, *times)]
    print(f"{name:<34}{middle[0] * each:>8.3f}{middle[1] * each:>8.3f}{middle[2]:>8.2f}{middle[3]:>8.2f}")


if __name__ == "__main__":
    main()
