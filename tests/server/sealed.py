"""Secrets in a served repository, and what a node makes of what it is sent."""

import base64
from collections.abc import Sequence

from gitcfg.agent.keys import Identity
from gitcfg.agent.secrets import decrypt
from gitcfg.secrets.store import armor, seal
from tests.server.agent import Answer, Node

FILE = "/etc/pool.conf"
FEATURE = (
    "params:\n  PASSWORD: {$secret: pool}\n"
    "files:\n  /etc/pool.conf: {format: env, params: [PASSWORD]}\n  /etc/plain: {template: plain.j2}\n"
)
DECLARED = (
    "parameters:\n  COLOR: {description: A colour., type: string}\n  PASSWORD: {type: string, secret: true}\n"
)
WITH_SECRET = {
    "features/Secret.yaml": FEATURE,
    "templates/plain.j2": "plain\n",
    "parameters/all.yaml": DECLARED,
}


def secret(
    content: str, *recipients: str, version: int = 1, where: str = "true", name: str = "pool"
) -> dict[str, str | None]:
    """The two files of a secret."""
    keys = "".join(f"  - {one}\n" for one in recipients)
    said = f"description: A secret.\nfor: '{where}'\nversion: {version}\nrecipients:\n{keys}"
    return {f"secrets/{name}.yaml": said, f"secrets/{name}.age": armor(seal(content, recipients))}


def featured(nodes: Sequence[str]) -> dict[str, str]:
    """Nodes that have the feature with the secret."""
    return {f"nodes/{name}.yaml": "features: [Secret]\n" for name in nodes}


def package(node: Node, commit: str, **headers: str) -> Answer:
    """What a node gets at a commit."""
    return node.ask("GET", f"/v1/commits/{commit}/nodes/{node.name}", more=headers)


def content(node: Node, answer: Answer, path: str = FILE) -> str:
    """The true content of a file, opened with the node's key."""
    assert answer.status == 200, answer.body
    who = Identity(node.name, node.key.public_key().public_bytes_raw(), node.key)
    return decrypt(base64.b64decode(answer.json()["files"][path]["sealed"]), who).decode()
