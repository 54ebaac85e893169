"""What a deploy has come to on nodes (`gitcfg.deploy-report/1`), read strictly."""

from typing import Annotated, Literal

import msgspec

from gitcfg.server.checkin import Commit, Digest, Seconds
from gitcfg.server.problems import Problem
from gitcfg.state import Deployed, Result

SCHEMA = "gitcfg.deploy-report/1"
MOST_BYTES = 1024 * 1024
_MOST_NODES = 1000
Outcome = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z-]{0,19}$")]


class Run(msgspec.Struct, frozen=True):
    """A deploy: by its id it is known when it is told again."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-hj-km-np-tv-z]{10}$")]
    commit: Commit
    who: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class Done(msgspec.Struct, frozen=True):
    """What it has come to on a node."""

    node: Annotated[str, msgspec.Meta(max_length=253)]
    outcome: Outcome
    at: Seconds
    step: Annotated[str, msgspec.Meta(max_length=200)] = ""
    output: Annotated[str, msgspec.Meta(max_length=32768)] = ""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)] = 0.0
    commit: Commit | None = None
    digest: Digest | None = None
    agent: bool = False


class Said(msgspec.Struct, frozen=True):
    """The body. `now` is the time by the clock of who tells it."""

    schema: Literal["gitcfg.deploy-report/1"]
    now: Seconds
    run: Run
    nodes: Annotated[tuple[Done, ...], msgspec.Meta(max_length=_MOST_NODES)]


def said(body: bytes) -> Said:
    """What is told. Problem: it is none of that."""
    try:
        return msgspec.json.decode(body, type=Said)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Problem("malformed", f"The body is no {SCHEMA}: {str(error)[:200]}") from None


def deployed(told: Said, now: float) -> list[Deployed]:
    """As it is kept, by this server's clock: that of who tells it may be off."""
    return [_deployed(told.run, done, min(now, done.at + now - told.now)) for done in told.nodes]


def _deployed(run: Run, done: Done, at: float) -> Deployed:
    result = Result(
        run.commit, done.outcome, max(0.0, at), done.step, done.output, done.seconds, run.who, run.id
    )
    return Deployed(done.node, result, done.commit, done.digest, done.agent)
