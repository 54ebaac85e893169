"""What is said where a server does not answer, or not as it should."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gitcfg.cli.server_state import Unreachable, ask_server
from gitcfg.model import REFUSED, GitcfgError
from tests.ports import free_port


@contextmanager
def answering(said: bytes) -> Iterator[str]:
    """Somebody who says this to whatever is asked, once."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            taken, _ = listening.accept()
            with taken:
                taken.recv(65536)
                taken.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def answer(status: str, body: bytes, kind: str = "application/problem+json") -> bytes:
    head = (
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*head, "", "")).encode() + body


def refused(call: Callable[[], object]) -> GitcfgError:
    with pytest.raises(GitcfgError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("said", "token", "method", "code", "words"),
    [
        (answer("401 Unauthorized", b"{}"), "", "GET", 2, "requires a token, and there is none"),
        (answer("401 Unauthorized", b"{}"), "t", "GET", 2, "rejected the token"),
        (answer("404 Not Found", b"{}"), "t", "POST", 2, "--role operate"),
        (
            answer("409 Conflict", b'{"detail": "It is\\u001b over."}'),
            "t",
            "POST",
            REFUSED,
            "It is\\x1b over.",
        ),
        (answer("503 Unavailable", b'{"title": "Later."}'), "t", "GET", 2, "cannot answer now: Later."),
        (answer("200 OK", b"<html>"), "t", "GET", 2, "it is not a gitcfg server"),
        (answer("200 OK", b"[1]"), "t", "GET", 2, "it is not a gitcfg server"),
        (b"", "t", "GET", 2, "if the server uses TLS, use https://"),
        (b"\x15\x03\x03\0\2\2\x46", "t", "GET", 2, "if the server uses TLS, use https://"),
    ],
)
def test_what_is_wrong_and_what_to_do(said: bytes, token: str, method: str, code: int, words: str) -> None:
    with answering(said) as place:
        error = refused(lambda: ask_server(f"http://{place}", token, "/v1/nodes", method))
    assert error.code == code
    assert words.lower() in " ".join((error.message, *error.hints)).lower()
    passing = b"503" in said or not said.startswith(b"HTTP")
    assert isinstance(error, Unreachable) == passing


def test_who_speaks_no_tls_is_told_apart_from_who_is_not_there() -> None:
    with answering(answer("400 Bad Request", b"")) as place:
        error = refused(lambda: ask_server(f"https://{place}", "", "/v1/nodes"))
    assert "use http://" in " ".join(error.hints)
    assert not isinstance(error, Unreachable)
    error = refused(lambda: ask_server(f"http://127.0.0.1:{free_port()}", "", "/v1/nodes"))
    assert isinstance(error, Unreachable)
    assert "connection refused" in error.message


@pytest.mark.parametrize(
    "server", ["config.example.com", "http://[x", "ftp://a", "http://a:b", "http://a:99999"]
)
def test_what_is_no_address_is_refused(server: str) -> None:
    assert "is not the URL of a server" in refused(lambda: ask_server(server, "", "/")).message
