"""A forge's API for comments, on a port of this machine: GitHub's, Forgejo's and GitLab's ways."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.agent.server import Ending

TOKEN = "secret-token"
_PATH = {
    "github": re.compile(r"/repos/ada/pool/issues/(?:7/comments|comments/(?P<id>\d+))"),
    "forgejo": re.compile(r"/repos/ada/pool/issues/(?:7/comments|comments/(?P<id>\d+))"),
    "gitlab": re.compile(r"/projects/42/merge_requests/7/notes(?:/(?P<id>\d+))?"),
}
_SAYS = {
    "github": ("Authorization", f"Bearer {TOKEN}", "PATCH"),
    "forgejo": ("Authorization", f"token {TOKEN}", "PATCH"),
    "gitlab": ("PRIVATE-TOKEN", TOKEN, "PUT"),
}


class Forge:
    """Comments by number, who asks, and whether that one may write."""

    def __init__(self, kind: str, user: str, may_write: bool = True) -> None:
        self.kind = kind
        self.user = user
        self.may_write = may_write
        self.comments: dict[int, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.address = ""

    def add(self, body: str, author: str) -> int:
        number = len(self.comments) + 1
        who = {"username": author} if self.kind == "gitlab" else {"login": author, "type": "User"}
        if author.endswith("[bot]"):
            who["type"] = "Bot"
        self.comments[number] = {"id": number, "body": body}
        self.comments[number]["author" if self.kind == "gitlab" else "user"] = who
        return number

    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments.values()]

    def answer(self, method: str, url: str, headers: Any, body: Any) -> tuple[int, Any]:
        """The status, and what is said."""
        self.asked.append(f"{method} {url}")
        header, credential, change = _SAYS[self.kind]
        parts = urlsplit(url)
        if headers.get(header) != credential:
            return 401, {"message": "Bad credentials"}
        if parts.path == "/user":  # workflows' own tokens belong to nobody
            bot = self.user.endswith("[bot]")
            return (403, {}) if bot else (200, {"username" if self.kind == "gitlab" else "login": self.user})
        found = _PATH[self.kind].fullmatch(parts.path)
        if found is None:
            return 404, {"message": "Not found"}
        if method == "GET":
            return 200, self._page(parse_qs(parts.query))
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST" and found["id"] is None:
            return 201, self.comments[self.add(body["body"], self.user)]
        if method == change and found["id"] is not None:
            self.comments[int(found["id"])]["body"] = body["body"]
            return 200, self.comments[int(found["id"])]
        return 405, {}

    def _page(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        if self.kind == "forgejo":
            return list(self.comments.values())
        size, page = int(query["per_page"][0]), int(query["page"][0])
        return list(self.comments.values())[(page - 1) * size : page * size]


@contextmanager
def serving(forge: Forge) -> Iterator[Forge]:
    """The forge while it answers at its address."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            status, said = forge.answer(self.command, self.path, self.headers, body)
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = _answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    with Ending(("127.0.0.1", 0), Handler) as server:
        forge.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield forge
        finally:
            server.shutdown()
            thread.join()
