"""The load benchmark of the server: a handful of agents, and what it would say of a check-in that is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bench.agents.crew import checkin, identities, keys
from bench.agents.figures import Figures
from bench.agents.kept import kept
from bench.agents.run import Run, Size
from bench.agents.sheet import Sheet, spread
from bench.agents.shown import tables
from bench.agents.wire import Line, Place, Reply
from bench.measure import Record
from bench.report import document, keep, keep_agents, read
from gitcfg.agent.errors import Untrusted
from gitcfg.agent.keys import Request
from gitcfg.state.records import Checkin
from gitcfg.state.state import connect
from tests import postgres

KEY = "ed25519:" + "A" * 43 + "="
ASKED = Request("GET", "/v1/nodes/n1/config")


def measured(size: Size, home: Path) -> Figures:
    return asyncio.run(Run(size, home, lambda said: None).all())


@pytest.mark.slow
def test_a_handful_of_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "missing", lambda: "it is not here")
    size = Size(fleet="small", nodes=6, interval=2, seconds=3, flat=0.05, few=3, rounds=1, every=1)
    found = measured(size, tmp_path)
    (all_kept,), (steady,), (told,) = found.kept, found.steady, found.rounds
    assert all_kept.answered == all_kept.found > 12
    assert (all_kept.behind, all_kept.wrong) == (0, "")
    assert all_kept.verified > all_kept.answered
    assert (steady.nodes, steady.wrong) == (6, 0)
    assert steady.checkins.count >= 6
    assert steady.sockets > 6
    assert (told.nodes, told.told) == (6, 6)
    assert 0 < told.first <= told.middle <= told.last
    assert [(one.server, one.request) for one in found.rates] == [
        ("bare", "check-in"),
        ("gitcfg, sqlite", "check-in"),
        ("gitcfg, sqlite", "poll without a wait"),
        ("gitcfg, sqlite", "package"),
    ]
    assert found.skipped == ["postgresql: it is not here"]
    assert len(tables(found)) == 6


def test_a_lost_check_in_is_found(tmp_path: Path) -> None:
    url, sheet = f"sqlite:///{tmp_path}/state.db", Sheet(KEY, 100)
    state = connect(url)
    for node, number in (("n1", 1), ("n1", 2), ("n2", 1)):
        sheet.checked_in(node, number)
        if (node, number) != ("n1", 2):
            said = Checkin(node, float(number), "key", f"{node} {number}", facts={"number": number})
            assert state.checkins.record([said]) == (True,)
    state.close()
    found = kept("gitcfg", url, sheet)
    assert (found.answered, found.found, found.behind) == (3, 2, 1)
    sheet.checked_in("n1", None)
    sheet.checked_in("n1", 4)
    found = kept("gitcfg", url, sheet)
    assert (found.answered, found.behind) == (4, 0), "of what was not answered nothing is known"


def test_an_answer_that_is_not_signed_ends_the_run() -> None:
    sheet = Sheet(KEY, 2)
    assert sheet.answered("poll", ASKED, Reply(304, b"HTTP/1.1 304 -", b""), 0.1)
    with pytest.raises(Untrusted):
        sheet.answered("poll", ASKED, Reply(304, b"HTTP/1.1 304 -", b""), 0.1)
    assert not sheet.answered("poll", ASKED, Reply(429, b"HTTP/1.1 429 -", b""), 0.1)
    assert dict(sheet.wrong) == {"poll: 429": 1}


def test_percentiles() -> None:
    found = spread([float(number) for number in range(1, 1001)])
    assert (found.count, found.p50, found.p95, found.p99, found.most) == (1000, 501, 951, 991, 1000)
    assert spread([]).count == 0


def test_check_ins_are_all_different() -> None:
    (who,) = identities(["n1"])
    first, second = (checkin(who, number, "", "", 30.0) for number in (1, 2))
    assert first.header("signature") != second.header("signature")
    assert keys([who]) == f"n1 {first.header('gitcfg-key')}\n"


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _asked(handler: Handler, count: int) -> list[Reply]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    async with server:
        line = Line(Place("127.0.0.1", server.sockets[0].getsockname()[1]))
        try:
            async with asyncio.timeout(10):
                return [await line.ask(ASKED) for _ in range(count)]
        finally:
            line.close()


def test_answers_come_in_any_pieces() -> None:
    parts = [
        *(b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 4\r\nETag: x\r\n\r\nab", b"cd"),
        b"HTTP/1.1 304 No\r\ncontent-length: 9\r\n\r\n",
    ]

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            if part.startswith(b"HTTP"):
                await reader.readuntil(b"\r\n\r\n")
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.01)

    first, second = asyncio.run(_asked(handler, 2))
    assert (first.status, first.body, first.headers["etag"]) == (200, b"abcd", "x")
    assert (second.status, second.body) == (304, b"")


def test_a_connection_that_is_lost_is_no_answer() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    with pytest.raises(ConnectionError):
        asyncio.run(_asked(handler, 1))


def test_figures_of_the_server_stay_where_others_are_measured(tmp_path: Path) -> None:
    path, row = (
        tmp_path / "results.json",
        Record(fleet="small", tool="gitcfg", work="check", cpu=(1.0,), wall=(1.0,), rss=(9.0,)),
    )
    made = tables(Figures(skipped=["postgresql: it is not here"]))
    keep([row], {"cores": "2"}, path)
    assert keep_agents(made, "commit 123", {"cores": "4"}, path).records == (row,)
    assert keep([row], {"cores": "2"}, path).agents == made == read(path).agents
    page = document(read(path), "")
    assert "gitcfg commit 123: simulated agents" in page
    assert "### Agents: not measured\n\n| why |\n| --- |\n| postgresql: it is not here |\n" in page
