"""What runs say of nodes: as a server is told it, and as an inventory has it where there is none."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.deploy.record_lines import Kept, NodeDone
from gitcfg.deploy.turns import Why
from gitcfg.model.names import HOST
from gitcfg.state.records import Deployed, NodeState, Result

_UNTRIED = ("skipped", "differs")
_AT_ONCE, _MOST_BYTES = 500, 512 * 1024
"""So much is told with one request: a server takes 1,000 nodes, and 1 MiB."""
_MOST_WHO, _MOST_STEP, _MOST_SECONDS = 200, 200, 1e7


def deployed(kept: Kept) -> tuple[Deployed, ...]:
    """What a run has come to, in the order in which nodes were done with."""
    return tuple(_deployed(kept, done) for done in kept.done.values() if _tried(done))


def _tried(done: NodeDone) -> bool:
    """Has somebody tried to change anything? Not where a hold or an agent kept everybody from that."""
    spared = done.outcome == "refused" and not done.step
    return not spared and done.outcome not in _UNTRIED and HOST.fullmatch(done.node) is not None


def _deployed(kept: Kept, done: NodeDone) -> Deployed:
    run, seconds = kept.run, min(max(done.seconds, 0.0), _MOST_SECONDS)
    who = run.who[:_MOST_WHO] or "somebody"
    result = Result(
        run.commit, done.outcome, done.at, done.step[:_MOST_STEP], done.output, seconds, who, run.id
    )
    return Deployed(done.node, result, done.commit, done.digest, bool(done.agent))


def reports(kept: Kept, now: float) -> Iterator[bytes]:
    """What a server is told of a run (`gitcfg.deploy-report/1`), in as many parts as it takes."""
    some: list[bytes] = []
    size = 0
    for one in deployed(kept):
        line = msgspec.json.encode(_said(one))
        if some and (len(some) == _AT_ONCE or size + len(line) > _MOST_BYTES):
            yield _report(kept, now, some)
            some, size = [], 0
        some.append(line)
        size += len(line)
    if some:
        yield _report(kept, now, some)


def _report(kept: Kept, now: float, nodes: list[bytes]) -> bytes:
    run = kept.run
    record = {
        "schema": "gitcfg.deploy-report/1",
        "now": now,
        "run": {"id": run.id, "commit": run.commit, "who": run.who[:_MOST_WHO] or "somebody"},
        "nodes": [msgspec.Raw(line) for line in nodes],
    }
    return msgspec.json.encode(record)


def _said(one: Deployed) -> dict[str, Any]:
    result = one.result
    return {
        "node": one.node,
        **{name: getattr(result, name) for name in ("outcome", "at", "step", "output", "seconds")},
        **{name: getattr(one, name) for name in ("commit", "digest", "agent")},
    }


def states(runs: Iterable[Kept]) -> list[NodeState]:
    """The nodes on which anything was ever installed, in order of name, as a database would know them.

    Runs come in the order in which they began.
    """
    found: dict[str, NodeState] = {}
    for one in (each for kept in runs for each in deployed(kept) if each.installed):
        before = found.get(one.node)
        if before is None or before.last <= one.result.at:
            found[one.node] = known(before, one)
    return [found[name] for name in sorted(found)]


def known(before: NodeState | None, said: Deployed) -> NodeState:
    """What is known of a node without an agent after a deploy to it: what is not told stays as it was."""
    at, result = said.result.at, said.result
    node = before or NodeState(said.node, at, at, at)
    if said.commit is not None:
        same = (node.commit, node.digest) == (said.commit, said.digest) and node.since is not None
        node = replace(node, commit=said.commit, digest=said.digest, since=node.since if same else at)
    if result.failed:
        node = replace(node, failed_commit=result.commit, failed_at=at)
    return replace(node, last=at, result=result, via=result.by, deployed=at)


def outcomes(kept: Kept) -> Mapping[str, int]:
    """How many nodes have come to what, the most frequent first."""
    counts: dict[str, int] = {}
    for name in kept.run.nodes:
        word = outcome(kept, name)
        counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def outcome(kept: Kept, name: str) -> str:
    """What a node of a run has come to, also where its file does not say it.

    Of a run that was broken off, or had a fault, it may be anything: somebody may have been at the node just
    then.
    """
    done = kept.done.get(name)
    if done is not None:
        return done.outcome
    if kept.end is not None and kept.end.how != Why.FAULT:
        return "skipped"
    return "waiting" if kept.going else "unknown"
