"""Signatures of requests and answers: what our own hand makes, the library takes, and the other way round."""

import base64
import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_message_signatures import (
    HTTPMessageSigner,
    HTTPMessageVerifier,
    MappingKeyResolver,
)
from http_message_signatures.algorithms import ED25519

from gitcfg.server.http import Problem
from gitcfg.server.signatures import CLOCK_SECONDS, AnswerSubject, ServerKey, verify_request
from tests.server.agent import Answer, Node, checkin, verify

NOW = 1_700_000_000.0
TARGET = "/v1/nodes/n1/config?wait=5"


@pytest.fixture(autouse=True)
def _time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.server.agent.time.time", lambda: NOW)


def asked(method: str, target: str, headers: dict[str, str]) -> web.Request:
    return make_mocked_request(method, target, headers)


def test_what_a_node_signs_by_hand_the_server_takes() -> None:
    node = Node("n1", "")
    body = checkin("n1")
    for method, target, sent in (("GET", TARGET, b""), ("POST", "/v1/nodes/n1/checkin", body)):
        request = asked(method, target, node.signed(method, target, sent))
        found = verify_request(request, sent, {"n1": node.public}, NOW)
        assert (found.node, found.key, found.known) == ("n1", node.public, True)
        assert bool(found.nonce) == (method == "POST")


def test_what_the_library_signs_the_server_takes() -> None:
    node = Node("n1", "")
    message: Any = SimpleNamespace(method="POST", url="http://x/v1/nodes/n1/checkin", headers={})
    keys = MappingKeyResolver(public_keys={}, private_keys={"n1": node.key})
    signer = HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=keys)
    signer.sign(
        message,
        key_id="n1",
        created=datetime.datetime.fromtimestamp(NOW, datetime.UTC),
        nonce="0123456789",
        label="gitcfg",
        tag="gitcfg",
        covered_component_ids=("@method", "@path", "@query"),
        body=b"{}",
    )
    request = asked("POST", "/v1/nodes/n1/checkin", message.headers)
    assert verify_request(request, b"{}", {"n1": node.public}, NOW).nonce == "0123456789"


def answered(
    node: Node, status: int, body: bytes, about: AnswerSubject
) -> tuple[dict[str, str], Answer, ServerKey]:
    key = ServerKey(Ed25519PrivateKey.generate())
    headers = node.signed("GET", TARGET)
    response = web.Response(status=status, body=body)
    key.sign(asked("GET", TARGET, headers), response, about, NOW)
    return headers, Answer(status, list(response.headers.items()), body), key


@pytest.mark.parametrize(("status", "body"), [(200, b'{"a": 1}'), (304, b""), (404, b"{}")])
def test_what_the_server_signs_a_node_takes_and_the_library_does(status: int, body: bytes) -> None:
    node = Node("n1", "")
    about = AnswerSubject("n1", "c" * 40, "d" * 64, 7, True)
    headers, answer, key = answered(node, status, body, about)
    verify(key.public, "GET", TARGET, headers["Signature"], answer)

    raw = base64.b64decode(key.public.removeprefix("ed25519:"))
    keys = MappingKeyResolver(
        public_keys={"server": Ed25519PublicKey.from_public_bytes(raw)}, private_keys={}
    )
    verifier = HTTPMessageVerifier(signature_algorithm=ED25519, key_resolver=keys)
    request = SimpleNamespace(method="GET", url=f"http://x{TARGET}", headers=headers)
    message = SimpleNamespace(status_code=status, headers=answer.headers, request=request)
    (found,) = verifier.verify(
        message,
        max_age=None,
        expect_tag="gitcfg",
        require_components=("@status", "content-digest", "gitcfg-node", '"signature";req', '"@path";req'),
        body=body,
    )
    assert found.covered_components['"gitcfg-sequence"'] == "7"
    assert found.covered_components['"gitcfg-rollback"'] == "true"


def test_an_answer_that_was_altered_or_is_to_another_request_does_not_hold() -> None:
    node = Node("n1", "")
    headers, answer, key = answered(node, 200, b"{}", AnswerSubject("n1"))
    for name, value in (("gitcfg-commit", "e" * 40), ("content-digest", "sha-256=:AAAA:")):
        altered = Answer(200, [*answer.headers.items(), (name, value)], b"{}")
        with pytest.raises(AssertionError):
            verify(key.public, "GET", TARGET, headers["Signature"], altered)
    with pytest.raises(AssertionError):
        verify(key.public, "GET", TARGET, node.signed("GET", "/v1")["Signature"], answer)


def refused(request: web.Request, body: bytes, keys: dict[str, str], now: float = NOW) -> str:
    with pytest.raises(Problem) as raised:
        verify_request(request, body, keys, now)
    return raised.value.kind


def test_what_does_not_hold_is_refused() -> None:
    node, other = Node("n1", ""), Node("n2", "")
    keys = {"n1": node.public, "n2": other.public}
    body, target = checkin("n1"), "/v1/nodes/n1/checkin"
    good = node.signed("POST", target, body)
    assert refused(asked("POST", target, other.signed("POST", target, body, keyid="n1")), body, keys) == (
        "unauthorized"
    )
    assert refused(asked("POST", target, good), body + b" ", keys) == "unauthorized"
    assert refused(asked("POST", target + "?a=1", good), body, keys) == "unauthorized"
    assert refused(asked("PUT", target, good), body, keys) == "unauthorized"
    for name in ("Content-Digest", "Signature", "Signature-Input"):
        less = {key: value for key, value in good.items() if key != name}
        assert refused(asked("POST", target, less), body, keys) == "unauthorized", name
    for text in (
        "gitcfg=()",
        "gitcfg=(",
        "x=?1",
        "gitcfg=:AA==:",
        "gitcfg=(" + '"@method" ' * 500 + ")",
        "\x01",
    ):
        assert refused(asked("POST", target, {**good, "Signature-Input": text}), body, keys) == "unauthorized"


def test_a_signature_over_less_than_it_must_is_refused() -> None:
    node = Node("n1", "")
    params = f'("@method" "@path");created={int(NOW)};keyid="n1";alg="ed25519";tag="gitcfg"'
    base = f'"@method": GET\n"@path": /v1\n"@signature-params": {params}'
    signature = base64.b64encode(node.key.sign(base.encode())).decode()
    headers = {"Signature-Input": f"gitcfg={params}", "Signature": f"gitcfg=:{signature}:"}
    assert refused(asked("GET", "/v1", headers), b"", {"n1": node.public}) == "unauthorized"


def test_what_changes_something_has_a_nonce() -> None:
    node, target = Node("n1", ""), "/v1/nodes/n1/checkin"
    headers = node.signed("POST", target, b"{}", nonce="short")
    assert refused(asked("POST", target, headers), b"{}", {"n1": node.public}) == "unauthorized"


@pytest.mark.parametrize("offset", [-CLOCK_SECONDS - 1, CLOCK_SECONDS + 1, 10**9])
def test_a_clock_that_is_off_is_told_so_only_to_who_has_the_key(offset: float) -> None:
    node = Node("n1", "")
    node.offset = offset
    request = asked("GET", TARGET, node.signed("GET", TARGET))
    assert refused(request, b"", {"n1": node.public}) == "clock"
    assert refused(request, b"", {"n1": Node("n1", "").public}) == "unauthorized"


def test_a_node_without_a_key_in_git_presents_one() -> None:
    node = Node("n1", "")
    found = verify_request(asked("GET", TARGET, node.signed("GET", TARGET)), b"", {}, NOW)
    assert (found.node, found.key, found.known) == ("n1", node.public, False)
    lying = {**node.signed("GET", TARGET), "Gitcfg-Key": Node("n1", "").public}
    assert refused(asked("GET", TARGET, lying), b"", {}) == "unauthorized"
    assert refused(asked("GET", TARGET, node.signed("GET", TARGET, keyid="../x")), b"", {}) == "unauthorized"
