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
    """Return the text that bytes are. Raise GitcfgError if no secret may hold them, without showing them."""
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
    """Return the secret that is handed in, without the end of a single line.

    Raise GitcfgError if no secret may hold it.
    """
    ends = raw.count(b"\n")
    if ends == 1 and raw.endswith(b"\n"):
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    return decode_text(raw)


def make_password(length: int) -> str:
    """Return a new password of letters and digits, each of which may be any: 5.95 bits a letter."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def forbid_core_dumps() -> None:
    """Forbid core dumps of this process and those it starts: they would hold secrets in its memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
