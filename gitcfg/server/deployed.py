"""Parse deploy reports (`gitcfg.deploy-report/1`) strictly."""

from typing import Annotated, Literal

import msgspec

from gitcfg.server.checkin import Commit, Digest, Seconds
from gitcfg.server.problems import Problem
from gitcfg.state import Deployed, Result

SCHEMA = "gitcfg.deploy-report/1"
MOST_BYTES = 1024 * 1024
_MOST_NODES = 1000
Outcome = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z-]{0,19}$")]


class DeployRun(msgspec.Struct, frozen=True):
    """A deploy; a report with the same id is a repetition."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-hj-km-np-tv-z]{10}$")]
    commit: Commit
    who: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class DeployedNode(msgspec.Struct, frozen=True):
    """What a deploy did to a node."""

    node: Annotated[str, msgspec.Meta(max_length=253)]
    outcome: Outcome
    at: Seconds
    step: Annotated[str, msgspec.Meta(max_length=200)] = ""
    output: Annotated[str, msgspec.Meta(max_length=32768)] = ""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)] = 0.0
    commit: Commit | None = None
    digest: Digest | None = None
    agent: bool = False


class DeployReport(msgspec.Struct, frozen=True):
    """The body of a deploy report. `now` is the time by the sender's clock."""

    schema: Literal["gitcfg.deploy-report/1"]
    now: Seconds
    run: DeployRun
    nodes: Annotated[tuple[DeployedNode, ...], msgspec.Meta(max_length=_MOST_NODES)]


def parse_deploy_report(body: bytes) -> DeployReport:
    """Parse a deploy report. Raise Problem if it is malformed."""
    try:
        return msgspec.json.decode(body, type=DeployReport)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Problem("malformed", f"The body is no {SCHEMA}: {str(error)[:200]}") from None


def collect_deploy_results(report: DeployReport, now: float) -> list[Deployed]:
    """Return results to store, dated by this server's clock: the sender's may be off."""
    return [
        _to_deploy_result(report.run, done, min(now, done.at + now - report.now)) for done in report.nodes
    ]


def _to_deploy_result(run: DeployRun, done: DeployedNode, at: float) -> Deployed:
    result = Result(
        run.commit, done.outcome, max(0.0, at), done.step, done.output, done.seconds, run.who, run.id
    )
    return Deployed(done.node, result, done.commit, done.digest, done.agent)
