"""The rows of gitcfg: whole processes on a committed repository, each in a state of its cache that it names.

cold: no cache. warm: the cache after a check of HEAD and the same command. one group changed: the cache
after a check of HEAD~1; nothing else of HEAD is known.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench.fleet import members
from bench.measure import Command, Row
from bench.rows.changes import judge_diff
from bench.rows.fleet import Prepared
from bench.rows.judge import judge, judge_one
from bench.rows.parsers import parser_rows
from bench.rows.states import bring
from bench.rows.tools import AGAIN, ALL, ONE
from bench.rows.written import out_rows

TOOL = "gitcfg"
MOST_RENDERED = 10_000
_CHECK = ("check", "--no-parsers", "--at")
_RENDER = ("render", "--params", "-o", "json", "--at")


class _Node(msgspec.Struct):
    params: msgspec.Raw


class _Rendered(msgspec.Struct):
    nodes: dict[str, _Node]


def answers(printed: bytes) -> dict[str, msgspec.Raw]:
    """The parameters of each node in what `render -o json` printed."""
    return {name: one.params for name, one in msgspec.json.decode(printed, type=_Rendered).nodes.items()}


def gitcfg_rows(ready: Prepared) -> Iterator[Row]:
    """All rows that a fleet of this kind can have. Answers of gigabytes are nobody's."""
    yield from _checks(ready)
    if ready.fleet.nodes:
        yield from _diffs(ready)
        yield from _one_node(ready)
    if 0 < len(ready.fleet.nodes) <= MOST_RENDERED:
        yield from _renders(ready)
        yield from out_rows(ready)
        yield from parser_rows(ready)


def _row(ready: Prepared, work: str, state: str, command: Command, before: Sequence[Command]) -> Row:
    count = len(ready.fleet.nodes) or sum(ready.fleet.options.set_size for _ in ready.fleet.sets)
    return Row(
        fleet=ready.name,
        tool=TOOL,
        work=work,
        state=state,
        command=command,
        nodes=0 if work.startswith(ONE) else count,
        before=lambda: bring(ready, before),
    )


def _checks(ready: Prepared) -> Iterator[Row]:
    old, new = ready.gitcfg(*_CHECK, "HEAD~1"), ready.gitcfg(*_CHECK, "HEAD")
    alike: Callable[[Path], str] = _Alike()
    for state, before in (("cold", []), ("nothing changed", [new]), (AGAIN, [old])):
        row = _row(ready, "check", state, new, before)
        yield msgspec.structs.replace(row, judge=alike)


class _Alike:
    """Says that what is printed is the same as the first time: with any cache, the same findings."""

    def __init__(self) -> None:
        self.first: bytes | None = None

    def __call__(self, printed: Path) -> str:
        found = printed.read_bytes()
        if self.first is None:
            self.first = found
        if found != self.first:
            raise ValueError("other findings than in another state")
        return "same findings"


def _renders(ready: Prepared) -> Iterator[Row]:
    """HEAD~1 is the fleet as the peers have it, HEAD the one after the change."""
    old, new = ready.gitcfg(*_RENDER, "HEAD~1", "--all"), ready.gitcfg(*_RENDER, "HEAD", "--all")
    check = ready.gitcfg(*_CHECK, "HEAD~1")
    cases = (("cold", old, [], ready.fleet), ("warm", old, [check, old], ready.fleet))
    for state, command, before, fleet in (*cases, (AGAIN, new, [check, old], ready.after)):
        row = _row(ready, ALL, state, command, before)
        yield msgspec.structs.replace(row, judge=judge(fleet, answers))


def _diffs(ready: Prepared) -> Iterator[Row]:
    command = ready.gitcfg("diff", "HEAD~1..HEAD", "-o", "json")
    old, new = ready.gitcfg(*_CHECK, "HEAD~1"), ready.gitcfg(*_CHECK, "HEAD")
    right = judge_diff(ready.fleet, ready.after, members(ready.fleet))
    for state, before in (("cold", []), (AGAIN, [old]), ("warm", [old, new, command])):
        yield msgspec.structs.replace(_row(ready, "diff", state, command, before), judge=right)


def _one_node(ready: Prepared) -> Iterator[Row]:
    node, fleet = ready.last, ready.fleet
    name = next(iter(fleet.nodes[node].params), next(iter(sorted(fleet.common))))
    check = ready.gitcfg(*_CHECK, "HEAD~1")
    render, explain = (
        ready.gitcfg(*_RENDER, "HEAD~1", node),
        ready.gitcfg("explain", node, name, "--at", "HEAD~1"),
    )
    right = judge_one(fleet, node, lambda printed: msgspec.json.decode(answers(printed)[node]))
    for state in ("cold", "warm"):
        for work, command in ((f"{ONE}, render", render), (f"{ONE}, explain", explain)):
            before = [check, command] if state == "warm" else []
            row = _row(ready, work, state, command, before)
            yield msgspec.structs.replace(row, judge=right if command is render else None)
    for work, command in (("gitcfg --version", ready.program("--version")), ("python", _python(ready))):
        yield _row(ready, f"{ONE}, {work}", "", command, [])


def _python(ready: Prepared) -> Command:
    return ready.command(ready.python, "-P", "-c", "pass")
