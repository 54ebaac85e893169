"""The content of a secret as somebody hands it in: from a file, from stdin, or typed without being seen.

Never from an argument, which others see, nor from the environment, which programs inherit.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

_END = len(b"\r\n")
_HINT = "A file's content, or more than a line, comes with --from FILE, or through a pipe."


def refuse_arguments(words: Sequence[str]) -> None:
    """GitcfgError: there are words too many. They are not repeated: one may be the content."""
    if words:
        hint = "Others see arguments: if that was the content, choose another one."
        raise GitcfgError(f"{counted(len(words), 'argument')} too many; a content is never one.", hint, _HINT)


def asked_for(name: str, file: str | None) -> str:
    """The content of a secret. GitcfgError: no secret may hold it, or none comes."""
    from gitcfg.secrets.content import MOST_BYTES, given

    if file in (None, "-") and sys.stdin is None:
        raise GitcfgError("No content comes: stdin is closed.", _HINT)
    if file is None and sys.stdin.isatty():
        return given(_typed(name).encode("utf-8", "surrogateescape"))
    if file in (None, "-"):
        return given(sys.stdin.buffer.read(MOST_BYTES + _END + 1))
    with Path(file).open("rb") as opened:
        return given(opened.read(MOST_BYTES + _END + 1))


def _typed(name: str) -> str:
    """What is typed, twice, and not shown."""
    import getpass
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            first = getpass.getpass(f"Content of {safe(name)}, which is not shown: ")
            again = getpass.getpass("Once more: ")
    except getpass.GetPassWarning:
        raise GitcfgError("This terminal would show what is typed.", _HINT) from None
    except EOFError:
        raise GitcfgError("Nothing was typed.", _HINT) from None
    except UnicodeDecodeError:
        raise GitcfgError("What was typed is no UTF-8 text.", _HINT) from None
    if first != again:
        raise GitcfgError("The two are not the same, so nothing was changed.", _HINT)
    return first
