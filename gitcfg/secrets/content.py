"""What a secret may hold: text, so that a parameter, a file or a template can take it."""

import resource
import secrets
import string

from gitcfg.model import GitcfgError

MOST_BYTES = 1 << 20
"""The most that a secret may hold."""

_BASE64 = "Text alone can be a secret: seal what `base64 FILE` prints, and let the program decode it."
_LETTERS = string.ascii_letters + string.digits


def decode_text(raw: bytes) -> str:
    """The text that bytes are. GitcfgError: no secret may hold them; it says nothing of what they are."""
    if len(raw) > MOST_BYTES:
        hint = "Keep what is large elsewhere, and the password to it here."
        raise GitcfgError(f"A secret holds at most {MOST_BYTES >> 20} MiB.", hint)
    if b"\0" in raw:
        raise GitcfgError("A secret cannot hold a NUL byte.", _BASE64)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise GitcfgError("A secret cannot hold what is no UTF-8 text.", _BASE64) from None
    if not text:
        raise GitcfgError(
            "There is nothing in it, and nothing is no secret.", "See where it should come from."
        )
    return text


def parse_content(raw: bytes) -> str:
    """The secret that somebody hands in: the end of a single line is not part of it.

    GitcfgError: no secret may hold that.
    """
    ends = raw.count(b"\n")
    if ends == 1 and raw.endswith(b"\n"):
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    return decode_text(raw)


def make_password(length: int) -> str:
    """A new password of letters and digits, each of which may be any: 5.95 bits a letter."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


# What this program holds in memory stays there when it dies.


def forbid_core_dumps() -> None:
    """No core is dumped of this process, nor of those it starts."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
