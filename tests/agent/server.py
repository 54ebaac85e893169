"""A small honest server over real HTTP: what gitcfg.server does for nodes, from values that a test sets."""

import base64
import hashlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyrage
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from http_message_signatures.exceptions import HTTPMessageSignaturesException

from gitcfg.install.package import Package, package_to_json
from gitcfg.load.keys import public_key, written
from tests.agent.wire import Answered, Asked, proven, sign

Reply = tuple[int, dict[str, str], bytes]
Fault = Callable[["Handler", Reply], Reply | None]
TOLERATED = 300


def raw(private: Ed25519PrivateKey) -> bytes:
    """The public half of a key."""
    return private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


@dataclass
class Book:
    """All that the server knows. `fault` may change a ready answer, or send something itself (None).

    Where it is `away` it hangs up without having read anything; `instead` is sent for any package.
    """

    private: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    accepted: dict[str, bytes] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    packages: dict[str, Package] = field(default_factory=dict)
    asked: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    instead: Package | None = None
    commit: str = ""
    sequence: int = 1000
    rollback: bool = False
    again: bool = False
    gone: bool = False
    offset: float = 0.0
    checkins: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    nonces: set[str] = field(default_factory=set)
    closing: bool = False
    fault: Fault | None = None
    sealed_to: bytes = b""
    away: Callable[[str], bool] = lambda path: False
    refuse: Callable[[str], Reply | None] = lambda path: None

    @property
    def key(self) -> str:
        """As agent.toml has it."""
        return f"ed25519:{base64.b64encode(raw(self.private)).decode()}"

    def offer(self, package: Package, **asked: list[str]) -> None:
        """From now on the node shall run this."""
        self.packages[package.commit] = package
        self.asked[package.commit] = asked
        self.commit = package.commit
        self.sequence += 1

    def heard(self, commit: str) -> bool:
        """Whether somebody has reported what came of a commit."""
        return any(said["result"] and said["result"]["commit"] == commit for said in self.checkins)

    @property
    def results(self) -> list[tuple[str, str]]:
        """Commit and outcome of what was reported."""
        told = (said["result"] for said in self.checkins)
        return [(one["commit"][:1], one["outcome"]) for one in told if one]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    book: Book

    def log_message(self, *said: Any) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["content-length"])))

    def _answer(self, body: bytes) -> None:
        self.book.requests.append(f"{self.command} {self.path.partition('?')[0]}")
        if self.book.away(self.path):
            self.close_connection = True
            return
        # The authority is not signed: any will do.
        asked = Asked(self.command, f"http://server{self.path}", dict(self.headers.items()), body)
        status, headers, said = self._judged(asked)
        reply = self._signed(asked, status, headers, said)
        changed = self.book.fault(self, reply) if self.book.fault else reply
        if changed is not None:
            self.send(changed)

    def send(self, reply: Reply) -> None:
        """Over the line."""
        status, headers, body = reply
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if status != 304:
            self.wfile.write(body)

    def _signed(self, asked: Asked, status: int, headers: dict[str, str], body: bytes) -> Reply:
        book, package = self.book, self.book.packages.get(self.book.commit)
        told = {
            "date": formatdate(time.time() + book.offset, usegmt=True),
            "content-digest": f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:",
            "gitcfg-node": self.path.split("/nodes/")[-1].split("/")[0].partition("?")[0],
            "gitcfg-commit": package.commit if package else "-",
            "gitcfg-digest": package.digest if package else "-",
            "gitcfg-sequence": str(book.sequence),
            "gitcfg-rollback": "true" if book.rollback else "false",
            **headers,
        }
        answered = Answered(status, asked, told)
        sign(answered, book.private, int(time.time() + book.offset))
        return status, answered.headers, body

    def _judged(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        book = self.book
        node = self.path.split("/nodes/")[-1].split("/")[0].partition("?")[0]
        known = book.accepted.get(node) or public_key(self.headers.get("gitcfg-key", "")) or b""
        try:
            params = proven(asked, {node: known})
        except HTTPMessageSignaturesException as error:
            return _problem(401, "unauthorized", str(error))
        if abs(params["created"] - time.time() - book.offset) > TOLERATED:
            return _problem(401, "unauthorized", "That is not the time.")
        if self.command == "POST":
            if params["nonce"] in book.nonces:
                return _problem(401, "replay", "That was said before.")
            book.nonces.add(params["nonce"])
        if node not in book.accepted:
            book.pending[node] = self.headers["gitcfg-key"]
            return _problem(
                403, "pending", "Run `gitcfg node accept` to accept its key.", fingerprint="SHA256:x"
            )
        return book.refuse(self.path) or self._routed(asked, node)

    def _routed(self, asked: Asked, node: str) -> tuple[int, dict[str, str], bytes]:
        book, package = self.book, self.book.packages.get(self.book.commit)
        path, _, query = self.path.partition("?")
        if book.gone:
            return _problem(410, "gone", "git has no such node any more.")
        if path.endswith("/checkin"):
            book.checkins.append(json.loads(asked.body))
        if package is None:
            return _problem(503, "unavailable", "Nothing was accepted yet.")
        if path.endswith("/config"):
            return self._config(query, package)
        if path.endswith("/changes"):
            return self._changes(node, dict(pair.split("=") for pair in query.split("&")))
        if path.startswith("/v1/commits/"):
            sent = book.instead or book.packages[path.split("/")[3]]
            return 200, {}, json.dumps(_sealed(sent, book.sealed_to or book.accepted[node])).encode()
        return 200, {}, self._target(package)

    def _config(self, query: str, package: Package) -> tuple[int, dict[str, str], bytes]:
        known, until = (
            self.headers.get("if-none-match"),
            time.monotonic() + float(query.partition("=")[2] or 0),
        )
        while known == f'"{package.digest}"' and time.monotonic() < until and not self.book.closing:
            time.sleep(0.01)
            package = self.book.packages[self.book.commit]
        tag = {"etag": f'"{package.digest}"'}
        return (304, tag, b"") if known == tag["etag"] else (200, tag, self._target(package))

    def _target(self, package: Package) -> bytes:
        said = {
            "schema": "gitcfg.target/1",
            "node": package.node,
            "commit": package.commit,
            "digest": package.digest,
            "sequence": self.book.sequence,
            "date": "2026-01-01T00:00:00Z",
            "rollback": self.book.rollback,
            "hold": None,
            "again": self.book.again,
        }
        return json.dumps(said).encode()

    def _changes(self, node: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if query.get("from") and query["from"] not in self.book.packages:
            return _problem(404, "unknown", "There is no such commit.")
        steps = {"restart": [], "reload": [], "stop": [], **self.book.asked[query["to"]]}
        said = {
            "schema": "gitcfg.changes/1",
            "node": node,
            "from": query.get("from"),
            "to": query["to"],
            **steps,
        }
        return 200, {}, json.dumps(said).encode()


def _sealed(sent: Package, public: bytes) -> dict[str, Any]:
    """A package with the contents of its secret files sealed to a node's key."""
    said = package_to_json(sent)
    key = pyrage.ssh.Recipient.from_str(written(public))
    for path, file in sent.files.items():
        if file.true_content is not None and file.hidden is not None:
            said["files"][path].pop("hidden")
            said["files"][path]["sealed"] = base64.b64encode(
                pyrage.encrypt(file.true_content, [key])
            ).decode()
    return said


def _problem(status: int, kind: str, detail: str, **more: str) -> tuple[int, dict[str, str], bytes]:
    said = {"type": f"urn:gitcfg:problem:{kind}", "status": status, "detail": detail, **more}
    return status, {"content-type": "application/problem+json"}, json.dumps(said).encode()


class Ending(ThreadingHTTPServer):
    """One that leaves no thread behind: to close it cuts the lines, and waits for who answers on them."""

    daemon_threads = False  # those that are, are not waited for

    def __init__(self, *args: Any, **more: Any) -> None:
        self._lines: set[socket.socket] = set()
        super().__init__(*args, **more)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._lines.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._lines.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        for line in tuple(self._lines):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        super().server_close()


@contextmanager
def serving(book: Book, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The server's address, while it runs."""
    server = Ending(("127.0.0.1", 0), type("Bound", (Handler,), {"book": book}))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        book.closing = True
        server.shutdown()
        server.server_close()
        thread.join()
