"""A node as its agent signs and verifies: by hand, with `cryptography` and the standard library alone."""

import base64
import hashlib
import json
import re
import secrets
import ssl
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"


class Answer:
    """What the server has answered."""

    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The kind of problem that it is."""
        assert self.headers["content-type"].startswith("application/problem+json"), self.body
        said = self.json()
        assert said["status"] == self.status
        return str(said["type"].rpartition(":")[2])


class Node:
    """A node with its key."""

    def __init__(
        self, name: str, server: str, server_key: str = "", key: Ed25519PrivateKey | None = None
    ) -> None:
        self.name = name
        self.key = key or Ed25519PrivateKey.generate()
        self.server, self.server_key = server, server_key
        self.offset = 0.0

    @property
    def public(self) -> str:
        """As it stands in keys/."""
        raw = self.key.public_key().public_bytes_raw()
        return f"ssh-ed25519 {base64.b64encode(HEAD + raw).decode()}"

    def signed(
        self, method: str, target: str, body: bytes = b"", nonce: str | None = None, keyid: str | None = None
    ) -> dict[str, str]:
        """The headers of a signed request."""
        path, _, query = target.partition("?")
        covered = {"@method": method, "@path": path, "@query": f"?{query}"}
        headers = {"Gitcfg-Key": self.public}
        if body:
            headers["Content-Digest"] = covered["content-digest"] = digest(body)
            headers["Content-Type"] = "application/json"
        params = (
            f"({' '.join(json.dumps(name) for name in covered)});created={int(time.time() + self.offset)}"
        )
        params += f';keyid="{keyid or self.name}";alg="ed25519"'
        if method != "GET":
            params += f';nonce="{nonce or secrets.token_urlsafe(16)}"'
        params += ';tag="gitcfg"'
        base = "".join(f'"{name}": {value}\n' for name, value in covered.items())
        signature = self.key.sign(f'{base}"@signature-params": {params}'.encode())
        headers["Signature-Input"] = f"gitcfg={params}"
        headers["Signature"] = f"gitcfg=:{base64.b64encode(signature).decode()}:"
        return headers

    def ask(
        self, method: str, target: str, body: bytes = b"", more: Mapping[str, str] | None = None
    ) -> Answer:
        """Ask, signed; `more` headers are not."""
        return self.send(method, target, body, {**self.signed(method, target, body), **(more or {})})

    def send(self, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send what is already signed; the answer's signature must hold, where there is one to judge by."""
        answer = plain(self.server, method, target, body, headers)
        if self.server_key and "Signature" in headers:
            verify(self.server_key, method, target, headers["Signature"], answer)
        return answer

    def config(self, wait: int = 0, digest: str = "") -> Answer:
        """What it is to run."""
        asked = f"/v1/nodes/{self.name}/config" + (f"?wait={wait}" if wait else "")
        return self.ask("GET", asked, more={"If-None-Match": f'"{digest}"'} if digest else {})

    def checkin(self, **said: Any) -> Answer:
        """Say how it stands."""
        return self.ask("POST", f"/v1/nodes/{self.name}/checkin", checkin(self.name, **said))

    def obey(self, outcome: str = "ok") -> Answer:
        """Take what it is offered, and say how it went."""
        target = self.config().json()
        runs = {"commit": target["commit"], "digest": target["digest"], "since": time.time()}
        result = {"commit": target["commit"], "outcome": outcome}
        return self.checkin(running=runs if outcome == "ok" else None, result=result)


def checkin(name: str, **said: Any) -> bytes:
    """The body of a check-in."""
    return json.dumps({"schema": "gitcfg.checkin/1", "node": name, **said}).encode()


def plain(
    server: str,
    method: str,
    target: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """Ask as anybody may."""
    host, port = urlsplit(server).hostname or "", urlsplit(server).port
    connection = (
        HTTPConnection(host, port, timeout=90)
        if tls is None
        else HTTPSConnection(host, port, timeout=90, context=tls)
    )
    try:
        connection.request(method, target, body or None, dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


def digest(body: bytes) -> str:
    """A body's digest as its header says it."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def verify(server_key: str, method: str, target: str, signature: str, answer: Answer) -> None:
    """AssertionError: the answer is not the server's answer to this very request."""
    path, _, query = target.partition("?")
    said = {
        '"@status"': str(answer.status),
        '"@path";req': path,
        '"@query";req': f"?{query}",
        '"@method";req': method,
        '"signature";req': signature,
    }
    params = answer.headers["signature-input"].removeprefix("gitcfg=")
    found = re.match(r"\(([^)]*)\)", params)
    assert found is not None
    names = found[1].split(" ")
    assert set(said) <= set(names)
    assert {'"content-digest"', '"gitcfg-node"', '"gitcfg-commit"', '"gitcfg-sequence"'} <= set(names)
    base = "".join(f"{name}: {said.get(name) or answer.headers[name.strip(chr(34))]}\n" for name in names)
    raw = base64.b64decode(server_key.removeprefix("ed25519:"))
    sent = base64.b64decode(answer.headers["signature"].removeprefix("gitcfg=:").rstrip(":"))
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(sent, f'{base}"@signature-params": {params}'.encode())
    except InvalidSignature:
        raise AssertionError("the answer's signature does not hold") from None
    assert answer.headers["content-digest"] == digest(answer.body)
