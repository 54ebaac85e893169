"""The node's own Ed25519 key, and signatures of requests and answers (RFC 9421)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..install.disk import read_file, write_file
from ..install.store import Place, Store, open_store
from .errors import Forbidden, Untrusted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
"""The bytes before the 32 bytes of a public key."""
_PEM = re.compile(
    rb"\s*-----BEGIN OPENSSH PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----\s*"
)
# No cipher, no key derivation and no options for it; one key, with both of its halves. `(?P=...)` repeats an
# earlier match: a key whose halves or check numbers disagree is damaged.
_KEY = re.compile(
    rb"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01\0\0\0\x33%b(?P<public>.{32})"
    rb".{4}(?P<check>.{4})(?P=check)%b(?P=public)\0\0\0\x40(?P<seed>.{32})(?P=public).*" % (HEAD, HEAD),
    re.DOTALL,
)


class PrivateKey:
    """The private half, with the method names of cryptography, which is imported at the first signature."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._key: Ed25519PrivateKey | None = None

    def private_bytes_raw(self) -> bytes:
        """Return its 32 bytes."""
        return self._seed

    def sign(self, message: bytes) -> bytes:
        """Return the signature."""
        if self._key is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            self._key = Ed25519PrivateKey.from_private_bytes(self._seed)
        return self._key.sign(message)


def read_key(raw: bytes) -> tuple[bytes, PrivateKey]:
    """Return the 32 bytes of the public half, and the private half.

    Raise ValueError if the file does not contain an Ed25519 key in OpenSSH's format.
    """
    pem = _PEM.fullmatch(raw)
    try:
        found = _KEY.fullmatch(binascii.a2b_base64(pem[1])) if pem else None
    except binascii.Error:
        found = None
    if found is None:
        raise ValueError("This is not an Ed25519 key in OpenSSH's format without a passphrase.")
    return found["public"], PrivateKey(found["seed"])


def make_key() -> bytes:
    """Return the content of the file for a new key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


if TYPE_CHECKING:
    from typing import Protocol

    class Signs(Protocol):
        """The private half of a key."""

        def sign(self, data: bytes, /) -> bytes:
            """Return the signature."""

        def private_bytes_raw(self) -> bytes:
            """Return the key itself, with which secrets are decrypted."""


NAME = "node.key"
_MOST = 1 << 14


class Identity(NamedTuple):
    """A node's identity. `public` is the 32 bytes of the key's public half."""

    node: str
    public: bytes
    private: Signs

    @property
    def key(self) -> str:
        """The key as keys/ has it: `ssh-ed25519 AAAA...`."""
        return f"ssh-ed25519 {base64.b64encode(HEAD + self.public).decode()}"

    @property
    def line(self) -> str:
        """The line for keys/*.txt."""
        return f"{self.node} {self.key}"

    @property
    def fingerprint(self) -> str:
        """The fingerprint as `ssh-keygen -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(HEAD + self.public).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"


def load_identity(place: Place, node: str) -> Identity:
    """Return the node's identity; make a key if there is none yet."""
    with open_store(place) as store:
        if store.disk.stat(store.at, NAME) is None:
            _make(store)
        return Identity(node, *_read(store))


def _make(store: Store) -> None:
    """Write a new key whole or not at all: after a loss of power, half a key would be another one."""
    fresh = f"{NAME}.{os.getpid()}"
    store.disk.unlink(store.at, fresh)
    write_file(store.disk, store.at, fresh, make_key(), None, 0o600)
    try:
        store.disk.link(store.at, fresh, store.at, NAME)
    except FileExistsError:
        pass  # another process was first, and its key counts
    finally:
        store.disk.unlink(store.at, fresh)
    store.disk.sync(store.at)


def _read(store: Store) -> tuple[bytes, Signs]:
    path = os.path.join(store.path, NAME)
    found = store.disk.stat(store.at, NAME)
    if found is None or not stat.S_ISREG(found.st_mode):
        raise Forbidden(f"{path} is not a file.")
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Forbidden(
            f"{path} is readable by other users.",
            "Remove it, restart the agent, then accept the node again with its new key.",
        )
    try:
        return read_key(read_file(store.disk, store.at, NAME, _MOST))
    except ValueError:
        raise Forbidden(
            f"{path} is not an Ed25519 key of OpenSSH's format.",
            "Move it to another place; the next start makes a new one.",
        ) from None


# Signatures of requests and answers (RFC 9421).

LABEL = "gitcfg"
ALGORITHM = "ed25519"


class Request(NamedTuple):
    """A request. `path` and `query` are as they are sent; `body` is None if there is none."""

    method: str
    path: str
    query: str = ""
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        """The path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def header(self, name: str) -> str:
        """Return a header's value, or "" if there is none."""
        return next((value for key, value in self.headers if key == name), "")


def content_digest(body: bytes) -> str:
    """Return the Content-Digest of a body."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def find_component(request: Request, name: str) -> str | None:
    """Return the value of a component of a request (RFC 9421, 2.1 and 2.2); None if it is unknown."""
    derived = {"@method": request.method, "@path": request.path, "@query": f"?{request.query}"}
    if name in derived:
        return derived[name]
    return request.header(name) or None


def signature_base(lines: Sequence[tuple[str, str]], params: str) -> bytes:
    """Return the signature base: a line for each component, and the line that names them."""
    parts = [f"{name}: {value}" for name, value in lines]
    return "\n".join((*parts, f'"@signature-params": {params}')).encode()


def sign_request(request: Request, who: Identity, created: int, nonce: str = "") -> Request:
    """Return the request with the headers that prove its sender, and with the key for a new server."""
    headers = [*request.headers, ("gitcfg-key", who.key)]
    covered = ["@method", "@path", "@query"]
    if request.body is not None:
        headers.append(("content-digest", content_digest(request.body)))
        covered.append("content-digest")
    ready = request._replace(headers=tuple(headers))
    names = " ".join(f'"{name}"' for name in covered)
    once = f';nonce="{nonce}"' if nonce else ""
    params = f'({names});created={created};keyid="{who.node}";alg="{ALGORITHM}"{once};tag="{LABEL}"'
    lines = [(f'"{name}"', find_component(ready, name) or "") for name in covered]
    signature = base64.b64encode(who.private.sign(signature_base(lines, params))).decode()
    own = (("signature-input", f"{LABEL}={params}"), ("signature", f"{LABEL}=:{signature}:"))
    return ready._replace(headers=(*ready.headers, *own))


# Answers count if the pinned server signed them, whole, for this very request.

REQUIRED = (
    '"@status"',
    '"content-digest"',
    '"gitcfg-node"',
    '"gitcfg-commit"',
    '"gitcfg-digest"',
    '"gitcfg-sequence"',
    '"gitcfg-rollback"',
    '"@method";req',
    '"@path";req',
    '"@query";req',
    '"signature";req',
)
"""The components that a signature must cover. The request's signature ties an answer to one request."""

_NAME = r'"[a-z@][a-z0-9-]*"(?:;req)?'
_VALUE = r'(?:[0-9]+|"[ -!#-\[\]-~]*")'
_INPUT = re.compile(
    rf"{LABEL}=(?P<params>\((?P<names>{_NAME}(?: {_NAME})*)\)(?P<rest>(?:;[a-z]+={_VALUE})*))"
)
_PARAM = re.compile(r';([a-z]+)=(?:([0-9]+)|"([^"]*)")')
_SIGNATURE = re.compile(rf"{LABEL}=:([A-Za-z0-9+/=]+):")


class Answer(NamedTuple):
    """An answer as received. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


def verify(answer: Answer, request: Request, keys: Iterable[bytes]) -> int:
    """Return when the server signed (its clock). Raise Untrusted if the answer does not count."""
    found = _INPUT.fullmatch(answer.headers.get("signature-input", ""))
    signature = _SIGNATURE.fullmatch(answer.headers.get("signature", ""))
    if found is None or signature is None:
        raise Untrusted(f"The answer (HTTP {answer.status}) is not signed by a gitcfg server.")
    names = found["names"].split(" ")
    missing = sorted(set(REQUIRED) - set(names))
    if missing or len(names) != len(set(names)):
        raise Untrusted(
            f"The answer's signature does not cover {missing[0] if missing else 'each part once'}."
        )
    created = _parse_created(found["rest"])
    if answer.headers.get("content-digest") != content_digest(answer.body):
        raise Untrusted("The answer's body differs from the signed one.")
    signed = signature_base([(name, _component(answer, request, name)) for name in names], found["params"])
    if not any(_is_signed_by(key, signature[1], signed) for key in keys):
        raise Untrusted(
            "The answer is not signed with the `server_key` in agent.toml.",
            "If the server has a new key, change `server_key`.",
        )
    return created


def _parse_created(rest: str) -> int:
    params: dict[str, str] = {}
    for name, number, text in _PARAM.findall(rest):
        if name in params:
            raise Untrusted(f"The answer's signature has {name} twice.")
        params[name] = number or text
    if params.get("alg", ALGORITHM) != ALGORITHM or params.get("tag") != LABEL:
        raise Untrusted("The answer's signature has another algorithm or tag.")
    if not params.get("created", "").isdigit() or len(params["created"]) > 12:
        raise Untrusted("The answer's signature has no creation time.")
    return int(params["created"])


def _component(answer: Answer, request: Request, name: str) -> str:
    if name == '"@status"':
        return str(answer.status)
    plain = name.partition(";")[0].strip('"')
    value = find_component(request, plain) if name.endswith(";req") else answer.headers.get(plain)
    if value is None:
        raise Untrusted(f"The answer's signature covers {name}, which the answer does not have.")
    return value


def _is_signed_by(key: bytes, signature: str, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature, validate=True), signed)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True
