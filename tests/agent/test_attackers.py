"""Answers that are not the pinned server's answer to this request: nothing of them is ever installed."""

import time
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.agent.server import Book, Fault, Handler, Reply, serving
from tests.agent.site import Site
from tests.agent.wire import COVERED, Answered, Asked, sign

Spoiler = Callable[[Handler, Reply], Reply | None]


def altered_body(handler: Handler, reply: Reply) -> Reply:
    return reply[0], reply[1], reply[2].replace(b"evil", b"good") + b" "


def altered_status(handler: Handler, reply: Reply) -> Reply:
    return 304, reply[1], reply[2]


def altered_sequence(handler: Handler, reply: Reply) -> Reply:
    return reply[0], {**reply[1], "gitcfg-sequence": "99999"}, reply[2]


def unsigned(handler: Handler, reply: Reply) -> Reply:
    return reply[0], {key: value for key, value in reply[1].items() if "ignature" not in key}, reply[2]


def signed_by_another(handler: Handler, reply: Reply) -> Reply:
    return _again(handler, reply, Ed25519PrivateKey.generate(), COVERED)


def tied_to_no_request(handler: Handler, reply: Reply) -> Reply:
    return _again(handler, reply, handler.book.private, COVERED[:-1])


def truncated(handler: Handler, reply: Reply) -> None:
    handler.send_response_only(reply[0])
    for name, value in reply[1].items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(reply[2]) + 100))
    handler.end_headers()
    handler.wfile.write(reply[2])
    handler.close_connection = True


def endless(handler: Handler, reply: Reply) -> None:
    handler.send_response_only(200)
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
    handler.close_connection = True


def slow(handler: Handler, reply: Reply) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(30):
        handler.wfile.write(b"x-a: b\r\n")
        handler.wfile.flush()
        time.sleep(0.1)
    handler.close_connection = True


def redirected(handler: Handler, reply: Reply) -> Reply:
    return 302, {"location": "http://127.0.0.1:9/"}, b""


def nonsense(handler: Handler, reply: Reply) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\0\0\0\0" * 100)
    handler.close_connection = True


def _again(handler: Handler, reply: Reply, key: Ed25519PrivateKey, covered: tuple[str, ...]) -> Reply:
    asked = Asked(handler.command, f"http://server{handler.path}", dict(handler.headers.items()))
    headers = {name: value for name, value in reply[1].items() if "ignature" not in name}
    answered = Answered(reply[0], asked, headers)
    sign(answered, key, int(time.time()), covered)
    return reply[0], answered.headers, reply[2]


ALL = (
    altered_body,
    altered_status,
    altered_sequence,
    unsigned,
    signed_by_another,
    tied_to_no_request,
    truncated,
    endless,
    slow,
    redirected,
    nonsense,
)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", ALL, ids=lambda one: one.__name__)
@pytest.mark.parametrize("where", ["/checkin", "/v1/commits/"])
def test_a_spoiled_answer_counts_for_nothing(site: Site, spoil: Fault, where: str) -> None:
    started(site)
    site.offer("evil\n", "b")
    site.book.fault = lambda handler, reply: spoil(handler, reply) if where in handler.path else reply
    done = site.once()
    assert done.returncode in (4, 5), done.stderr
    assert done.stderr.startswith("error: ")
    untouched(site)


def test_an_old_answer_again(site: Site) -> None:
    kept: dict[str, Reply] = {}
    started(site)
    site.offer("evil\n", "b")
    site.book.fault = lambda handler, reply: kept.setdefault(handler.path, reply)
    site.once()
    site.offer("good\n", "c")
    site.book.fault = None
    site.once()
    assert site.world.runs_with("app") == "good\n"
    site.book.fault = lambda handler, reply: kept.get(handler.path, reply)
    assert site.once().returncode == 4
    assert site.world.runs_with("app") == "good\n"


def test_an_answer_for_another_node(site: Site) -> None:
    started(site)
    site.book.offer(site.package("evil\n", "b")._replace(node="n2"), reload=["app"])
    done = site.once()
    assert done.returncode == 4
    untouched(site)


def test_a_configuration_of_another_node_or_commit(site: Site) -> None:
    started(site)
    site.offer("evil\n", "b")
    for other in (site.package("evil\n", "b")._replace(node="n2"), site.package("evil\n", "d")):
        site.book.instead = other
        done = site.once()
        assert (done.returncode, "without a request" in done.stderr) == (4, True)
        untouched(site)


def test_an_older_sequence_counts_only_as_a_rollback(site: Site) -> None:
    started(site)
    site.offer("two\n", "b")
    site.book.sequence = 5
    done = site.once()
    assert (done.returncode, "is older than the last one" in done.stderr) == (4, True)
    untouched(site)
    site.book.rollback = True
    assert site.once().returncode == 0
    assert site.world.runs_with("app") == "two\n"


def test_a_wrong_server_key(site: Site) -> None:
    started(site)
    site.offer("evil\n", "b")
    site.configure(key=Book().key)
    done = site.once()
    assert (done.returncode, "not signed with the `server_key`" in done.stderr) == (4, True)
    untouched(site)
    # While keys are exchanged, both may sign.
    site.configure(f'server_key = ["{Book().key}", "{site.book.key}"]')
    assert site.once().returncode == 0


def test_another_server_with_the_same_name(site: Site) -> None:
    started(site)
    other = Book(accepted=site.book.accepted)
    other.offer(site.package("evil\n", "b"), reload=["app"])
    with serving(other) as url:
        site.configure(server=url)
        assert site.once().returncode == 4
    untouched(site)


def test_a_false_date_over_an_open_line_moves_no_clock(site: Site) -> None:
    started(site)
    refused = (401, {"date": "Tue, 01 Jan 2030 00:00:00 GMT"}, b"")
    site.book.fault = lambda handler, reply: refused
    assert site.once().returncode == 4
    site.book.fault = None
    assert site.once().returncode == 0
    assert abs(site.book.checkins[-1]["clock_offset"]) < 5


def started(site: Site) -> None:
    """A node that runs `one`."""
    site.configure('timeout = "1s"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0


def untouched(site: Site) -> None:
    """It still does, and nothing was done to its daemon since."""
    assert site.world.runs_with("app") == "one\n"
    assert site.world.log("app") in (["restart"], [])
    assert "evil" not in site.world.read("/etc/app/app.conf")
