"""What is kept of a deploy: a line of JSON for its begin, for each node and for its end."""

from collections.abc import Mapping
from typing import Literal

import msgspec

MOST_OUTPUT = 8192
"""So many characters of what a node said last are kept."""
WELL = ("ok", "unchanged")
"""The outcomes after which a node has the commit: there is nothing left to do."""


class Run(msgspec.Struct, frozen=True, tag_field="what", tag="begun"):
    """A deploy as it begins: its nodes in the order in which they have their turn.

    `begun` is in seconds since the epoch. `reason` is said where the commit was not reviewed; `resumes` is
    the run whose nodes that were not well this one takes on.
    """

    id: str
    commit: str
    who: str
    reason: str
    begun: float
    nodes: tuple[str, ...]
    resumes: str = ""
    schema: Literal["gitcfg.deploy-run/1"] = "gitcfg.deploy-run/1"


class NodeDone(msgspec.Struct, frozen=True, tag_field="what", tag="node"):
    """What became of a node. `outcome` is one word; `step` is what failed, `output` what was said then.

    `commit` and `digest` are what is in force on the node now, None where that is not known; `changed` is how
    many files were written. `agent` is the one that is there: none, "installed" or "running". `at` is when.
    """

    node: str
    outcome: str
    step: str = ""
    output: str = ""
    seconds: float = 0.0
    changed: int = 0
    commit: str | None = None
    digest: str | None = None
    agent: str = ""
    at: float = 0.0


class Ended(msgspec.Struct, frozen=True, tag_field="what", tag="ended"):
    """How a run came to its end: `done`, or why nobody else had a turn (`limit`, `interrupted`, `output`,
    `fault`).

    `because` says that in a sentence.
    """

    how: str
    at: float = 0.0
    because: str = ""


class Told(msgspec.Struct, frozen=True, tag_field="what", tag="told"):
    """Whom the run was told, with all its nodes: a server's address, or `database`."""

    place: str
    at: float = 0.0


Line = Run | NodeDone | Ended | Told
_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


class Kept(msgspec.Struct, frozen=True):
    """A run as its file tells it. `going`: somebody is at it; `broken` counts lines that cannot be read."""

    run: Run
    done: Mapping[str, NodeDone] = {}
    end: Ended | None = None
    told: Told | None = None
    going: bool = False
    broken: int = 0

    @property
    def ended(self) -> str:
        """How it ended, in one word: also `running`, and `broken off` where its program was ended."""
        if self.end is not None:
            return self.end.how
        return "running" if self.going else "broken off"


def unfinished(kept: Kept) -> tuple[str, ...]:
    """The nodes that do not have the commit because of a run, in the order of their turns."""
    return tuple(name for name in kept.run.nodes if name not in kept.done or not _well(kept.done[name]))


def _well(done: NodeDone) -> bool:
    return done.outcome in WELL


def encoded(line: Line) -> bytes:
    """A line, with its end. What stands for no character in a program's output is told as `?`."""
    if isinstance(line, NodeDone):
        output = _end_of(line.output).encode("utf-8", "replace").decode()
        line = msgspec.structs.replace(line, output=output)
    return msgspec.json.encode(line) + b"\n"


def _end_of(output: str) -> str:
    """Whole lines of it, unless one is so long that little would be left; and how much is left out."""
    over = len(output) - MOST_OUTPUT
    if over <= 0:
        return output
    begin = output.find("\n", over - 1) + 1
    if not 0 < begin <= over + MOST_OUTPUT // 2:
        begin = over
    return f"... {begin} characters before\n{output[begin:]}"


def read(data: bytes, going: bool = False) -> Kept | None:
    """A run out of its file, which may end anywhere; None: it never began. ValueError: it is no such file."""
    *lines, _torn = data.split(b"\n")
    if not lines:
        return None
    run = _decoded(lines[0])
    if not isinstance(run, Run):
        raise ValueError("it does not begin as a deploy's file does")
    known = frozenset(run.nodes)
    done: dict[str, NodeDone] = {}
    end, told, broken = None, None, 0
    for text in lines[1:]:
        line = _decoded(text)
        if isinstance(line, NodeDone) and line.node in known:
            done[line.node] = line
        elif isinstance(line, Ended):
            end = line
        elif isinstance(line, Told):
            told = line
        else:
            broken += bool(text)
    return Kept(run, done, end, told, going, broken)


def _decoded(text: bytes) -> Line | None:
    try:
        return _LINE.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
