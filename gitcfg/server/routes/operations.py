"""For those who run the server: does it live, can it answer, how much does it do, and what does it offer."""

from collections import Counter
from collections.abc import Iterator

import msgspec
from aiohttp import web

from gitcfg.inventory.standing import Standing, standing
from gitcfg.rollout import Status
from gitcfg.server.answers import json_answer
from gitcfg.server.callers import reader
from gitcfg.server.description import described
from gitcfg.server.metrics import CONTENT_TYPE, gauge, gauges
from gitcfg.server.routes.commits import commits_record
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.standing import names, stands

_NOT_FOR_ALL = ("schema", "message")
"""What a finding says of parameters and nodes is for those who have a token."""


async def healthz(request: web.Request) -> web.StreamResponse:
    """The server lives."""
    return web.Response(text="ok\n", headers={"Cache-Control": "no-store"})


async def readyz(request: web.Request) -> web.StreamResponse:
    """Can it answer? An invalid tip is no reason not to: what counted before is still answered."""
    service = request.app[SERVICE]
    failing = service.conductor.failing
    ready = service.conductor.view is not None and not failing
    said = {key: value for key, value in commits_record(service).items() if key not in _NOT_FOR_ALL}
    record = {"ready": ready, "failing": bool(failing), **said}
    answer = json_answer(msgspec.json.encode(record))
    answer.set_status(200 if ready else 503)
    return answer


async def metrics(request: web.Request) -> web.StreamResponse:
    """Figures, as OpenMetrics has them."""
    await reader(request)
    lines = [*request.app[SERVICE].metrics.lines(), *_fleet(request.app[SERVICE]), "# EOF\n"]
    headers = {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"}
    return web.Response(body="\n".join(lines).encode(), headers=headers)


async def openapi(request: web.Request) -> web.StreamResponse:
    """All that can be asked, described."""
    return web.Response(body=described(), content_type="application/json")


def _fleet(service: Service) -> Iterator[str]:
    view, roll = service.conductor.view, service.conductor.roll.nodes
    yield from gauge("gitcfg_long_polls", "Nodes that wait for news.", service.polls.count)
    yield from gauge("gitcfg_event_streams", "Streams of events.", service.streams.count)
    yield from gauge(
        "gitcfg_failing", "1: the database or the repository fails.", bool(service.conductor.failing)
    )
    judged = service.conductor.judged
    yield from gauge("gitcfg_tip_errors", "Errors of the branch's tip.", judged.errors if judged else 0)
    if view is None:
        return
    now = service.clock()
    counts = Counter(standing(stands(view, name, roll.get(name), now)) for name in names(view, roll))
    yield from gauges(
        "gitcfg_nodes",
        "Nodes by how they stand.",
        "state",
        [(each.value, counts[each]) for each in Standing],
    )
    outcomes = Counter(last.outcome for last in roll.values() if last.outcome is not None)
    yield from gauges(
        "gitcfg_nodes_outcome", "Nodes by their last result.", "outcome", sorted(outcomes.items())
    )
    drifted = sum(1 for last in roll.values() if last.drifts)
    yield from gauge("gitcfg_nodes_drifted", "Nodes with files changed by hand.", drifted)
    releases = Counter(one.progress.status for one in service.conductor.releases)
    yield from gauges(
        "gitcfg_releases",
        "Releases that are not over, and the last that is.",
        "status",
        [(each.value, releases[each]) for each in Status],
    )


ROUTES = [
    web.get("/healthz", healthz),
    web.head("/healthz", healthz),
    web.get("/readyz", readyz),
    web.head("/readyz", readyz),
    web.get("/metrics", metrics),
    web.get("/openapi.json", openapi),
]
