"""What is verified without the library: only what the library would take, and to the same answer."""

import base64
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import msgspec
import pytest
from aiohttp.test_utils import make_mocked_request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from gitcfg.agent.keys import Identity, Request
from gitcfg.agent.keys import sign_request as signed_by_agent
from gitcfg.server.http import Problem
from gitcfg.server.signatures import (
    Keyring,
    SignatureClaim,
    content_digest,
    verify_common_form,
    verify_with_library,
)
from tests.server.agent import Node

NOW = 1_700_000_000
PATH = "/v1/nodes/n1/checkin"
BODY = b'{"a": 1}'
NODE = Node("n1", "", key=Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
KEYS = {"n1": NODE.public}


def asked(method: str, target: str, headers: Any) -> Any:
    return make_mocked_request(method, target, CIMultiDict(headers))


def by_library(request: Any, body: bytes) -> SignatureClaim | None:
    """What the library says of the same request."""
    try:
        return verify_with_library(request, body, Keyring(KEYS, ""))
    except Problem:
        return None


@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", "/v1/nodes/n1/config"),
        Request("GET", "/v1/nodes/n1/config", "wait=60"),
        Request("GET", "/v1/nodes/n1/changes", f"from={'a' * 40}&to={'b' * 40}"),
        Request("GET", f"/v1/commits/{'a' * 40}/nodes/n1"),
        Request("POST", PATH, body=BODY),
    ],
)
def test_what_agents_ask_is_usual(request_: Request) -> None:
    who = Identity("n1", NODE.key.public_key().public_bytes_raw(), NODE.key)
    ready = signed_by_agent(request_, who, NOW, "0123456789abcdef" if request_.body else "")
    request, body = asked(ready.method, ready.target, ready.headers), ready.body or b""
    found = verify_common_form(request, body, Keyring(KEYS, ""))
    assert found == SignatureClaim("n1", NOW, "0123456789abcdef" if body else "")
    assert by_library(request, body) == found


def test_both_say_who_it_was() -> None:
    request = asked("POST", PATH, NODE.signed("POST", PATH, BODY))
    for keys, presented, known in ((KEYS, "", True), ({}, NODE.public, False)):
        for judge in (verify_common_form, verify_with_library):
            keyring = Keyring(keys, presented)
            found = judge(request, BODY, keyring)
            assert found is not None
            assert (found.node, keyring.text, keyring.known) == ("n1", NODE.public, known)


class Sent(msgspec.Struct, frozen=True):
    """A request in pieces. Who has a key can sign any text: the input of the signature as it stands."""

    method: str = "POST"
    target: str = PATH
    body: bytes = BODY
    digest: str = content_digest(BODY)
    before: str = "gitcfg="
    covered: tuple[str, ...] = ('"@method"', '"@path"', '"@query"', '"content-digest"')
    between: str = " "
    params: tuple[str, ...] = (
        *(f";created={NOW}", ';keyid="n1"', ';alg="ed25519"', ';nonce="0123456789"', ';tag="gitcfg"'),
    )
    after: str = ""
    twice: str = ""
    spaced: str = ""

    @property
    def request(self) -> Any:
        """The request as it comes."""
        params = f"({self.between.join(self.covered)}){''.join(self.params)}"
        path, _, query = self.target.partition("?")
        values = {"@method": self.method, "@path": path, "@query": f"?{query}", "content-digest": self.digest}
        base = "".join(f"{name}: {values.get(name.strip(chr(34)), '')}\n" for name in self.covered)
        signed = base64.b64encode(NODE.key.sign(f'{base}"@signature-params": {params}'.encode())).decode()
        headers = [
            ("Signature-Input", f"{self.before}{params}{self.after}"),
            ("Signature", f"gitcfg=:{signed}:"),
            ("Content-Digest", self.digest),
        ]
        headers = [(name, f" {value}\t" if name == self.spaced else value) for name, value in headers]
        return asked(self.method, self.target, headers + [one for one in headers if one[0] == self.twice])


COMPONENTS = ('"@method"', '"@path"', '"@query"', '"content-digest"')
PARAMS = (
    *(
        f";created={text}"
        for text in (0, "00", f"0{NOW}", "-1", "+1", "1.0", 10**15 - 1, 10**15, "?1", '"1"')
    ),
    *(f";keyid={text}" for text in ('"N1"', '"n2"', "n1", '"n\\"1"', '""', '"n1 "', '"é"')),
    *(f";alg={text}" for text in ('"ED25519"', "ed25519", '"hmac-sha256"', '"rsa-v1_5-sha256"')),
    *(f";nonce={text}" for text in ('""', '"a b"', "abcdefgh", '"é"', '"a+b/c=d,"', '"01234567\\\\"')),
    *(f";tag={text}" for text in ('"other"', "gitcfg", '"gitcfg2"')),
    *("", ";expires=1", ";x", ";created", "; created=1", ' ;tag="gitcfg"', ';tag="gitcfg"\t'),
)
TARGETS = (
    "/",
    "//x",
    "/a%20b",
    "/a%2",
    "/a b",
    "/é",
    "*",
    "http://x/y",
    "/a?b",
    "/a?",
    "/a?b?c",
    "/a#b",
    "/a?b#c",
    "/\x7f",
)


def altered() -> Iterator[dict[str, Any]]:
    """Everything in which a request may be unusual, one thing at a time."""
    usual = Sent()
    yield from ({"method": text} for text in ("GET", "get", "PUT", "Post"))
    yield from ({"target": text} for text in TARGETS)
    yield from ({"body": body} for body in (b"", BODY + b" "))
    yield {"body": b"", "digest": content_digest(b"")}
    yield {"body": b"", "covered": COMPONENTS[:3]}
    yield from ({"digest": text} for text in ("", "sha-256=:AAAA:", content_digest(BODY) + " ", "x=1"))
    yield from (
        {"before": text} for text in ("", "gitcfg=  ", " gitcfg=", "GITCFG=", "x=1, gitcfg=", "sig1=")
    )
    yield from ({"after": text} for text in (" ", ",", ", x=()", ";x", "\t", ")"))
    yield from ({"between": text} for text in ("  ", "", ",", "\t"))
    yield from ({"covered": COMPONENTS[:number] + COMPONENTS[number + 1 :]} for number in range(4))
    yield from ({"covered": tuple(order)} for order in permutations(COMPONENTS))
    for other in (
        '"@method"',
        '"@METHOD"',
        "@method",
        '"@query";x',
        '"@query";req',
        '"@authority"',
        '"@path";sf',
    ):
        yield from ({"covered": (*COMPONENTS[:at], other, *COMPONENTS[at + 1 :])} for at in range(4))
    yield from ({"params": tuple(order)} for order in permutations(usual.params))
    for at in range(len(usual.params)):
        for other in PARAMS:
            yield {"params": (*usual.params[:at], other, *usual.params[at + 1 :])}
    for name in ("Signature-Input", "Signature", "Content-Digest"):
        yield from ({"twice": name}, {"spaced": name})


ALTERED = list(altered())


def compared(sent: Sent) -> tuple[bool, bool]:
    """Who takes a request, we and the library."""
    found, judgement = (
        verify_common_form(sent.request, sent.body, Keyring(KEYS, "")),
        by_library(sent.request, sent.body),
    )
    assert found is None or found == judgement, sent
    return found is not None, judgement is not None


def test_nobody_is_let_in_whom_the_library_refuses() -> None:
    assert compared(Sent()) == (True, True)
    taken = Counter(compared(Sent(**change)) for change in ALTERED)
    assert taken[True, True] >= 5, "requests are of the usual form, too"
    assert taken[False, True] >= 100, "the library takes more"
    assert taken[False, False] >= 100, "and does not take everything"


@given(st.lists(st.sampled_from(ALTERED), min_size=2, max_size=4))
def test_nor_where_several_things_are_unusual(changes: list[dict[str, Any]]) -> None:
    compared(Sent(**{name: value for change in changes for name, value in change.items()}))


@pytest.mark.parametrize("last", "BCDEFGHIJKLMNOPQRSTUVWXYZ")
def test_a_signature_has_one_spelling(last: str) -> None:
    """Of its last character only two bits count: whoever changes the others has changed what was sent."""
    headers = NODE.signed("POST", PATH, BODY)
    text = headers["Signature"]
    other = f"{text[:-4]}{last}{text[-3:]}"
    request = asked("POST", PATH, {**headers, "Signature": other})
    found = verify_common_form(request, BODY, Keyring(KEYS, ""))
    assert (found is None) or found == by_library(request, BODY)
    assert (found is not None) == (other == text)
