"""The rows of a peer: all nodes, all nodes after one group changed, and one node."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.fleet.lay import differing, finish, fresh, lay
from bench.measure import Row
from bench.peers import Peer, Tool
from bench.rows.fleet import Prepared
from bench.rows.judge import judge, judge_one

ALL = "all nodes"
AGAIN = "one group changed"
ONE = "one node"


def tool_rows(ready: Prepared, peer: Peer, tool: Tool) -> Iterator[Row]:
    """The rows, with the fleet written in the peer's format."""
    folder = ready.folder / peer.name
    before, after = dict(peer.files(ready.fleet)), dict(peer.files(ready.after))
    if not fresh(folder, ready.mark):
        lay(folder, before.items())
        finish(folder, ready.mark)
    old, new = differing(after, before), differing(before, after)
    everything = ready.command(*peer.everything(tool, folder))
    for state, laid, fleet in (("", old, ready.fleet), (AGAIN, new, ready.after)):
        yield Row(
            fleet=ready.name,
            tool=peer.name,
            work=ALL,
            state=state,
            nodes=len(fleet.nodes),
            before=_laying(folder, laid),
            command=everything,
            judge=judge(fleet, peer.answers),
            once=bool(state),
        )
    yield Row(
        fleet=ready.name,
        tool=peer.name,
        work=ONE,
        before=_laying(folder, old),
        command=ready.command(*peer.one(tool, folder, ready.last)),
        judge=judge_one(ready.fleet, ready.last, lambda printed: _of_one(printed, ready.last)),
    )


def _laying(folder: Path, files: list[tuple[str, str]]) -> Callable[[], None]:
    return lambda: lay(folder, files)


def _of_one(printed: bytes, node: str) -> Any:
    """Some print the node's parameters, some the node with them."""
    answer = json.loads(printed)
    return answer.get(node, answer)
