"""Servers that are busy, or away behind a proxy: others are asked, and they are left alone as they wish."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.agent.agent import Agent
from gitcfg.agent.client import MOST_AFTER, ask_target, retry_pause
from gitcfg.agent.errors import Declined, Unreachable
from gitcfg.agent.keys import Answer
from gitcfg.agent.process import WaitInterrupted
from gitcfg.agent.rounds import run_forever, start_agent
from gitcfg.install.store import Place
from tests.agent.server import Book, Handler, Reply, serving
from tests.agent.site import Site


def busy(after: str = "", status: int = 503) -> Callable[[str], Reply]:
    """What a server answers that has no time."""
    return lambda path: (status, {"retry-after": after} if after else {}, b"{}")


def unsigned(handler: Handler, reply: Reply) -> Reply:
    return 503, {"retry-after": "120"}, b"<html>Service Unavailable</html>"


def agent_of(site: Site) -> Agent:
    root = str(site.world.root)
    return start_agent(root, "", Place(root), lambda line: None, "0")


@pytest.fixture
def agent(site: Site) -> Iterator[Agent]:
    site.offer("one\n", "a")
    site.accept()
    made = agent_of(site)
    yield made
    made.client.close()


@pytest.fixture
def other(site: Site) -> Iterator[tuple[Book, str]]:
    """A second server that knows the same."""
    site.offer("one\n", "a")
    site.accept()
    book = Book(
        site.book.private, accepted=site.book.accepted, packages=site.book.packages, commit=site.book.commit
    )
    book.sequence = site.book.sequence
    with serving(book) as url:
        yield book, url


@pytest.mark.parametrize(
    ("status", "said", "pause"),
    [
        (503, "5", 5.0),
        (429, "60", 60.0),
        (503, "0", 0.0),
        (503, "", 0.0),
        (503, "-5", 0.0),
        (503, "soon", 0.0),
        (503, "1e9", 0.0),
        (503, "٣", 0.0),
        (503, "9" * 5000, MOST_AFTER),
        (503, "Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        (503, "Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        (503, "Fri, 01 Jan 2100 00:00:00 GMT", MOST_AFTER),
        (403, "60", 0.0),
        (200, "60", 0.0),
    ],
)
def test_how_long_a_server_wants_to_be_left_alone(status: int, said: str, pause: float) -> None:
    assert retry_pause(Answer(status, {"retry-after": said}), 1000.0) == pause


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_a_server_says_a_node_stays_in_reach(said: str, now: float) -> None:
    assert 0.0 <= retry_pause(Answer(503, {"retry-after": said}), now) <= MOST_AFTER


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_round_with_a_busy_server(site: Site, agent: Agent, status: int) -> None:
    site.book.refuse = busy("5", status)
    done = site.once()
    assert (done.returncode, f"HTTP {status}" in done.stderr) == (5, True)
    site.book.refuse = lambda path: None
    assert site.once().returncode == 0


def test_a_proxy_whose_server_is_away_is_no_liar(site: Site, agent: Agent) -> None:
    site.book.fault = unsigned
    done = site.once()
    assert (done.returncode, "is not available: HTTP 503" in done.stderr) == (5, True)
    with pytest.raises(Unreachable) as raised:
        ask_target(agent.client, 0, "")
    assert raised.value.after == 120.0
    assert 100 < agent.client.rest <= 120.0


def test_another_server_is_asked_at_once_and_the_busy_one_left_alone(
    site: Site, other: tuple[Book, str]
) -> None:
    second, url = other
    site.configure(f'server = ["{site.url}", "{url}"]')
    agent = agent_of(site)
    site.book.refuse = busy("100")
    assert ask_target(agent.client, 0, "").commit == "a" * 40
    for _ in range(3):
        ask_target(agent.client, 0, "")
    assert (len(site.book.requests), len(second.requests)) == (1, 4)
    assert agent.client.rest == 0.0
    second.away = lambda path: True
    with pytest.raises(Unreachable):
        ask_target(agent.client, 0, "")
    assert len(site.book.requests) == 1
    # Over new connections any may be asked.
    site.book.refuse = lambda path: None
    agent.client.close()
    assert ask_target(agent.client, 0, "").commit == "a" * 40
    agent.client.close()


def test_where_all_are_busy_the_one_that_answers_is_told_of(site: Site, other: tuple[Book, str]) -> None:
    second, url = other
    site.configure(f'server = ["{url}", "{site.url}", "http://127.0.0.1:9"]')
    agent = agent_of(site)
    site.book.refuse, second.refuse = busy("100"), busy("50")
    with pytest.raises(Declined) as raised:
        ask_target(agent.client, 0, "")
    assert (raised.value.after, raised.value.code) == (50.0, 5)
    agent.client.close()


@pytest.mark.parametrize(("said", "least", "most"), [("100", 100, 150), ("", 0.5, 2), ("9999999", 300, 450)])
def test_the_daemon_waits_as_long_as_it_is_told(
    site: Site, agent: Agent, said: str, least: float, most: float
) -> None:
    site.book.refuse = busy(said)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        agent.signals.ending = 15 if len(slept) == 2 else 0
        raise WaitInterrupted

    agent.signals.sleep = sleep  # type: ignore[method-assign]
    run_forever(agent)
    assert least - 1 < slept[1] <= most
    assert slept[0] <= agent.settings.delay
    assert agent.memory.next - agent.wall() == pytest.approx(slept[1], abs=5)


def test_the_daemon_waits_longer_each_time_and_starts_at_a_random_moment(
    tmp_path: Path, site: Site, agent: Agent
) -> None:
    site.configure('server = "http://127.0.0.1:9"\ndelay = "1h"\ninterval = "1h"')
    begun, pauses = set(), []
    for _ in range(5):
        agent = agent_of(site)
        slept: list[float] = []

        def sleep(seconds: float, slept: list[float] = slept, agent: Agent = agent) -> None:
            slept.append(seconds)
            agent.signals.ending = 15 if len(slept) == 12 else 0
            raise WaitInterrupted

        agent.signals.sleep = sleep  # type: ignore[method-assign]
        run_forever(agent)
        begun.add(slept[0])
        pauses.append(slept[1:])
    assert len(begun) == 5
    assert all(0 <= one <= 3600 for one in begun)
    for one in pauses:
        assert all(2**n <= pause <= 2 ** (n + 1) for n, pause in zip(range(7), one, strict=False))
        assert max(one) <= 3600
    assert len({tuple(one) for one in pauses}) == 5
