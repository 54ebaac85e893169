"""What no server in this language can do without: read a check-in, verify its signature, sign an answer.

`python -m bench.agents.bare KEYS` is aiohttp with one handler that keeps nothing and knows no commit: the
floor beside which gitcfg's own server is measured. Its answers are as long as gitcfg's.
"""

import asyncio
import base64
import re
import signal
import sys
from hashlib import sha256
from pathlib import Path

import uvloop
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_INPUT = re.compile(r'gitcfg=(\([^)]*\);created=\d+;keyid="([^"]*)".*)')
_BODY = b'{"commit":"%s","digest":"%s","node":"%s"}' % (b"0" * 40, b"0" * 64, b"x" * 128)
_PARAMS = (
    '("@status" "content-digest" "gitcfg-node" "gitcfg-commit" "gitcfg-digest" "gitcfg-sequence" '
    '"gitcfg-rollback" "@path";req "@query";req "@method";req "signature";req);created=1700000000;'
    'keyid="server";alg="ed25519";tag="gitcfg"'
)


def verified(keys: dict[str, Ed25519PublicKey], request: web.Request, body: bytes) -> str:
    """The signature of a request, if it holds. InvalidSignature: it does not."""
    found = _INPUT.fullmatch(request.headers["Signature-Input"])
    digest = f"sha-256=:{base64.b64encode(sha256(body).digest()).decode()}:"
    if found is None or request.headers["Content-Digest"] != digest:
        raise web.HTTPUnauthorized
    path, _, query = request.raw_path.partition("?")
    covered = f'"@method": {request.method}\n"@path": {path}\n"@query": ?{query}\n"content-digest": {digest}'
    signature = request.headers["Signature"]
    told = f'{covered}\n"@signature-params": {found[1]}'.encode()
    keys[found[2]].verify(base64.b64decode(signature[len("gitcfg=:") : -1]), told)
    return signature


def application(keys: dict[str, Ed25519PublicKey], own: Ed25519PrivateKey) -> web.Application:
    """The one handler."""

    async def check_in(request: web.Request) -> web.Response:
        body = await request.read()
        signature = verified(keys, request, body)
        digest = f"sha-256=:{base64.b64encode(sha256(_BODY).digest()).decode()}:"
        said = {
            "Content-Digest": digest,
            "Gitcfg-Node": request.match_info["node"],
            "Gitcfg-Commit": "0" * 40,
            "Gitcfg-Digest": "0" * 64,
            "Gitcfg-Sequence": "1700000000",
            "Gitcfg-Rollback": "false",
        }
        base = "\n".join((*map(": ".join, said.items()), request.raw_path, signature, _PARAMS))
        said["Signature-Input"] = f"gitcfg={_PARAMS}"
        said["Signature"] = f"gitcfg=:{base64.b64encode(own.sign(base.encode())).decode()}:"
        return web.Response(body=_BODY, content_type="application/json", headers=said)

    app = web.Application()
    app.router.add_post("/v1/nodes/{node}/checkin", check_in)
    return app


def read(path: Path) -> dict[str, Ed25519PublicKey]:
    """The keys of keys/*.txt."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name: Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[-32:]) for name, _, key in lines}


async def main(path: Path) -> None:
    """Serve until SIGTERM."""
    own, ended = Ed25519PrivateKey.generate(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    runner = web.AppRunner(application(read(path), own), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    public = base64.b64encode(own.public_key().public_bytes_raw()).decode()
    port = runner.addresses[0][1]
    print(
        f'Serving on http://127.0.0.1:{port}. It keeps nothing.\nserver_key = "ed25519:{public}"', flush=True
    )
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
