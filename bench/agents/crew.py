"""The nodes of the benchmark: names, keys, and requests that they have really signed."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gitcfg.agent.keys import Identity, Request, sign_request


def identities(names: Iterable[str]) -> Iterator[Identity]:
    """A node for each name, with a key of its own."""
    for name in names:
        private = Ed25519PrivateKey.generate()
        yield Identity(name, private.public_key().public_bytes_raw(), private)


def keys(crew: Iterable[Identity]) -> str:
    """All of them as keys/*.txt has them."""
    return "".join(f"{who.line}\n" for who in crew)


def checkin(who: Identity, number: int, commit: str, digest: str, interval: float) -> Request:
    """A check-in like an agent's. Its number stands in the facts: the inventory shows which was last."""
    running = {"commit": commit, "digest": digest, "since": 1_700_000_000.0} if commit else None
    said: dict[str, Any] = {
        "schema": "gitcfg.checkin/1",
        "node": who.node,
        "running": running,
        "result": None,
        "drift": [],
        "facts": {"number": number, "system": "Linux", "release": "6.1.0", "machine": "x86_64", "cores": 64},
        "version": "0.1.0",
        "clock_offset": 0.0,
        "interval": interval,
    }
    body = json.dumps(said).encode()
    asked = Request(
        "POST", f"/v1/nodes/{who.node}/checkin", body=body, headers=(("content-type", "application/json"),)
    )
    return sign_request(asked, who, int(time.time()), os.urandom(16).hex())


def poll(who: Identity, digest: str, wait: int) -> Request:
    """The question what to run, which waits where it is still that."""
    known = (("if-none-match", f'"{digest}"'),) if digest else ()
    query = f"wait={wait}" if wait else ""
    return sign_request(
        Request("GET", f"/v1/nodes/{who.node}/config", query, headers=known), who, int(time.time())
    )


def package(who: Identity, commit: str) -> Request:
    """The question for all that the node gets at a commit."""
    return sign_request(Request("GET", f"/v1/commits/{commit}/nodes/{who.node}"), who, int(time.time()))
