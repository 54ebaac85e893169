"""The secrets of a random repository, and files that look encrypted to all who have no key."""

import base64
from collections.abc import Iterator

from gitcfg.generate.chance import random_part
from gitcfg.generate.emit import to_yaml
from gitcfg.generate.plan import Plan

RECIPIENT = "age17gzwvlp9c22965equw8cfwjudn8gq4w5vf85c8ncpygug9c93fxqy0wh68"
_LINE = 64  # letters of a line of armor


def secret_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Two files a secret, which every node may have."""
    for name in plan.parameters.secrets:
        rng = random_part(plan.options, "secret", name)
        yield from secret(name, rng.randrange(1, 10), rng.randbytes(160))


def secret(name: str, version: int, chance: bytes, who: str = "true") -> Iterator[tuple[str, str]]:
    """A secret for the nodes for which `who` holds; `chance` are 160 bytes of nothing."""
    said = {"description": f"What only {name} opens.", "for": who, "version": version}
    yield f"secrets/{name}.yaml", to_yaml({**said, "recipients": [f"{RECIPIENT} nobody"]})
    yield f"secrets/{name}.age", _armored(_sealed(chance))


def _sealed(chance: bytes) -> bytes:
    """A file for one recipient, as age writes it; that it holds nothing shows only who opens it."""
    share, key, mac, rest = chance[:32], chance[32:64], chance[64:96], chance[96:]
    stanza = f"-> X25519 {_written(share)}\n{_written(key)}\n"
    return f"age-encryption.org/v1\n{stanza}--- {_written(mac)}\n".encode() + rest


def _armored(data: bytes) -> str:
    text = base64.b64encode(data).decode()
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    begin, end = (f"-----{what} AGE ENCRYPTED FILE-----" for what in ("BEGIN", "END"))
    return "\n".join((begin, *lines, end, ""))


def _written(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")
