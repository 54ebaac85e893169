"""Signatures as RFC 9421 has them: a library verifies ours, and signs what we verify."""

import base64
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.agent.errors import Untrusted
from gitcfg.agent.keys import Answer, Identity, Request, content_digest, sign_request, verify
from tests.agent.server import raw
from tests.agent.wire import COVERED, Answered, Asked, proven, sign

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SERVER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
WHO = Identity("n1.example.com", raw(PRIVATE), PRIVATE)

paths = st.lists(st.text(min_size=1, max_size=8), max_size=4).map(
    lambda names: "/" + "/".join(quote(name, safe="", errors="replace") for name in names)
)
queries = st.text(max_size=20).map(lambda text: quote(text, safe="=&+", errors="replace"))


def asked(request: Request) -> Asked:
    """As it comes to a server."""
    return Asked(request.method, f"http://any{request.target}", dict(request.headers), request.body or b"")


@given(paths, queries, st.none() | st.binary(min_size=1, max_size=50), st.integers(0, 2**33))
def test_a_library_verifies_what_is_signed(path: str, query: str, body: bytes | None, created: int) -> None:
    request = Request("GET" if body is None else "POST", path, query, body)
    ready = sign_request(request, WHO, created, "0123456789abcdef" if body else "")
    params = proven(asked(ready), {"n1.example.com": WHO.public})
    assert (params["created"], params["keyid"], params["tag"]) == (created, "n1.example.com", "gitcfg")
    assert params.get("nonce", "") == ("0123456789abcdef" if body else "")


@given(paths, queries, st.binary(max_size=50), st.integers(0, 2**33), st.permutations(COVERED))
def test_what_a_library_signs_is_verified(
    path: str, query: str, body: bytes, created: int, covered: list[str]
) -> None:
    request = sign_request(Request("GET", path, query), WHO, 1)
    answer = answered(request, body, created, tuple(covered))
    assert verify(answer, request, (raw(PRIVATE), raw(SERVER))) == created


def answered(
    request: Request, body: bytes = b"{}", created: int = 5, covered: tuple[str, ...] = COVERED, **more: str
) -> Answer:
    """A signed answer."""
    headers = {
        "content-digest": content_digest(body),
        "gitcfg-node": "n1",
        "gitcfg-commit": "-",
        "gitcfg-digest": "-",
        "gitcfg-sequence": "7",
        "gitcfg-rollback": "false",
        **more,
    }
    made = Answered(200, asked(request), headers)
    sign(made, SERVER, created, covered)
    return Answer(200, {name.lower(): value for name, value in made.headers.items()}, body)


REQUEST = sign_request(Request("GET", "/v1/x", "wait=1"), WHO, 1)


@pytest.mark.parametrize("left", COVERED)
def test_every_part_must_be_covered(left: str) -> None:
    answer = answered(REQUEST, covered=tuple(name for name in COVERED if name != left))
    with pytest.raises(Untrusted, match="does not cover"):
        verify(answer, REQUEST, (raw(SERVER),))


@pytest.mark.parametrize("name", ["gitcfg-node", "gitcfg-commit", "gitcfg-sequence", "gitcfg-rollback"])
def test_a_changed_header_is_noticed(name: str) -> None:
    answer = answered(REQUEST)
    changed = answer._replace(headers={**answer.headers, name: "other"})
    with pytest.raises(Untrusted, match="not signed with the `server_key`"):
        verify(changed, REQUEST, (raw(SERVER),))


@pytest.mark.parametrize(
    "other",
    [
        sign_request(Request("GET", "/v1/y", "wait=1"), WHO, 1),
        sign_request(Request("GET", "/v1/x", "wait=2"), WHO, 1),
        sign_request(Request("GET", "/v1/x", "wait=1"), WHO, 2),
    ],
)
def test_an_answer_belongs_to_its_request(other: Request) -> None:
    with pytest.raises(Untrusted, match="not signed with the `server_key`"):
        verify(answered(REQUEST), other, (raw(SERVER),))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("signature", "gitcfg=:AAAA:"),
        ("signature", ""),
        ("signature", f"gitcfg=:{base64.b64encode(bytes(64)).decode()}:"),
        ("signature-input", ""),
        ("signature-input", 'gitcfg=();created=1;tag="gitcfg"'),
        ("signature-input", "gitcfg=(" + '"@status" ' * 5000),
        ("content-digest", content_digest(b"other")),
    ],
)
def test_nonsense_is_not_believed(name: str, value: str) -> None:
    answer = answered(REQUEST)
    with pytest.raises(Untrusted):
        verify(answer._replace(headers={**answer.headers, name: value}), REQUEST, (raw(SERVER),))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tag="gitcfg"', 'tag="other"'),
        ('alg="ed25519"', 'alg="hmac-sha256"'),
        ("created=5;", ""),
        ("created=5", "created=5;created=6"),
    ],
)
def test_another_kind_of_signature_is_not_believed(old: str, new: str) -> None:
    answer = answered(REQUEST)
    line = answer.headers["signature-input"]
    assert old in line
    with pytest.raises(Untrusted):
        verify(
            answer._replace(headers={**answer.headers, "signature-input": line.replace(old, new)}),
            REQUEST,
            (raw(SERVER),),
        )
