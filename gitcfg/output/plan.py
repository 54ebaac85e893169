"""Which nodes' folders are to be visited: those asked for, and those of nodes that are gone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

import msgspec

from gitcfg.output import record
from gitcfg.output.places import is_safe_node
from gitcfg.output.record import Record

CHUNK = 64
"""Nodes that are one worker's turn: 10 ms and more where there is something to render."""

_LINES = 4096


class Scope(Enum):
    """Whom a run is about: the nodes it names, or all there are, so that others are gone."""

    NAMED = "named"
    ALL = "all"


class Task(Enum):
    """What is to be done to a node's folder."""

    UPDATE = "update"
    CLEAR = "clear"
    LEAVE = "leave"


class Job(msgspec.Struct, frozen=True):
    """A node's folder with what is known of it, a line of the manifest."""

    node: str
    line: bytes
    task: Task


def plan_jobs(
    nodes: Sequence[str], scope: Scope, lines: Iterable[bytes], said: Mapping[str, Record]
) -> Iterator[Job]:
    """A job for every node that is asked for or known, in order of name.

    `nodes` and `lines` are in that order, `said` is what a run that was ended may have written.
    """
    asked = set(nodes)
    other = Task.CLEAR if scope is Scope.ALL else Task.LEAVE
    for node, line in _join_lines(sorted(asked | said.keys()), lines):
        if is_safe_node(node):
            yield Job(node, _known_line(node, line, said), Task.UPDATE if node in asked else other)


def _join_lines(nodes: Sequence[str], lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Nodes with their lines, if they have any: two ordered streams as one."""
    waiting = iter(nodes)
    node = next(waiting, None)
    for line in lines:
        known = record.decode_node(line)
        while node is not None and node < known:
            yield node, b""
            node = next(waiting, None)
        if node == known:
            node = next(waiting, None)
        yield known, line
    while node is not None:
        yield node, b""
        node = next(waiting, None)


def _known_line(node: str, line: bytes, said: Mapping[str, Record]) -> bytes:
    if node not in said:
        return line or record.encode_record(Record(node, "", ()))
    before = [record.decode_record(line)] if line else []
    return record.encode_record(record.join_records(node, [*before, said[node]]))


def split_jobs(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs in turns for workers: what is only to be left alone hardly counts."""
    turn: list[Job] = []
    busy = 0
    for job in jobs:
        turn.append(job)
        busy += job.task is not Task.LEAVE
        if busy == CHUNK or len(turn) == _LINES:
            yield turn
            turn, busy = [], 0
    if turn:
        yield turn
