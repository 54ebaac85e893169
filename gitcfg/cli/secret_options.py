"""Options of `gitcfg secret`, and their values: private keys, recipients, and the content of a secret.

A content never comes from an argument, which other users see, nor from the environment, which child processes
inherit.
"""

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from gitcfg.model.age import Recipient
    from gitcfg.secrets.identities import Identities


Name = Annotated[str, typer.Argument(help="The name of the secret.", metavar="SECRET")]
New = Annotated[
    str, typer.Argument(help="The name of the secret, which is created if missing.", metavar="SECRET")
]
Names = Annotated[
    list[str] | None,
    typer.Argument(help="The names of secrets; default: all that the change concerns.", metavar="SECRET..."),
]
From = Annotated[
    str | None, typer.Option("--from", help="Read the content from a file; - is stdin.", metavar="FILE")
]
For = Annotated[
    str | None,
    typer.Option("--for", help="The nodes that may have the secret; required for a new one.", metavar="CEL"),
]
Readers = Annotated[
    list[str] | None,
    typer.Option(
        "--recipient",
        help="A recipient: an age or SSH public key, or a file of keys. No other key can read the secret.",
        metavar="KEY|FILE",
    ),
]
Identity = Annotated[
    list[str] | None,
    typer.Option(
        "--identity",
        help="A file with a private key; default: GITCFG_IDENTITY, then the usual places.",
        metavar="FILE",
    ),
]
_MOST_BYTES = 1 << 20
_HINT = "Use --from FILE or a pipe for files and for contents of several lines."


def load_identities(session: Session, files: Sequence[str] | None) -> "Identities":
    """Load the private keys in these files, or in GITCFG_IDENTITY's, or in the default places.

    Raise GitcfgError if a named one cannot be used; in a default place only note that.
    """
    from gitcfg.secrets.identities import parse_identities

    named = files or [path for path in os.environ.get("GITCFG_IDENTITY", "").split(os.pathsep) if path]
    if not named:
        return _load_default_identities()
    for path in map(Path, named):
        if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            text = f"warning: Other users can read {safe(str(path))}. Run `chmod 600` on it."
            session.console(stderr=True).print(text, style="yellow")
    try:
        return parse_identities((safe(path), _read_key_file(Path(path))) for path in named)
    except OSError as error:
        hint = "" if files else "The path comes from GITCFG_IDENTITY."
        raise GitcfgError(f"{safe(str(error.filename))}: {error.strerror}.", hint) from None


def _load_default_identities() -> "Identities":
    """Load the private keys in the default places; note those that cannot be used."""
    from gitcfg.secrets.identities import Identities, parse_identities

    found = Identities()
    home = os.environ.get("HOME")
    settings = os.environ.get("XDG_CONFIG_HOME") or (home and f"{home}/.config")
    paths = [Path(settings, "gitcfg", "identity.txt")] if settings else []
    paths += [Path(home, ".ssh", "id_ed25519")] if home else []
    for path in paths:
        try:
            found = found.join(parse_identities([(safe(str(path)), _read_key_file(path))]))
        except FileNotFoundError:
            continue
        except OSError as error:
            found = found.with_note(f"{safe(str(path))}: {error.strerror}.")
        except GitcfgError as error:
            found = found.with_note(error.message)
    return found


def _read_key_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def parse_recipients(words: Iterable[str]) -> "tuple[Recipient, ...]":
    """Return the public keys in words, or in the files that they name, each once.

    Raise GitcfgError if one is not a key, or a file has none.
    """
    from gitcfg.secrets.store import parse_recipient

    found: list[Recipient] = []
    for word in words:
        # A word with such a beginning is meant as a key, even if it is a private one by mistake.
        is_key = word.lstrip().lower().startswith(("age1", "age-", "ssh-", "-----"))
        found += [parse_recipient(word)] if is_key else _read_recipients(word)
    return tuple({one.key: one for one in found}.values())


def _read_recipients(word: str) -> "list[Recipient]":
    from gitcfg.secrets.store import parse_recipient

    try:
        text = _read_key_file(Path(word)).decode("utf-8", "replace")
    except FileNotFoundError:
        hint = "A key is age1..., ssh-ed25519 AAAA... or ssh-rsa AAAA...; put it in quotes, as it has spaces."
        raise GitcfgError(f"{shown(word)} is neither a key nor a file.", hint) from None
    if "PRIVATE KEY-----" in text or "AGE-SECRET-KEY" in text:
        hint = "Use the public key, in OpenSSH the file *.pub."
        raise GitcfgError(f"{shown(word)} contains a private key.", hint)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise GitcfgError(f"{shown(word)} contains no key.", "Write one key on each line of the file.")
    return [parse_recipient(line) for line in lines]


def refuse_arguments(words: Sequence[str]) -> None:
    """Raise GitcfgError if there are too many arguments, without repeating them: one may be the content."""
    if words:
        hint = "Other users can see arguments. If one was the content, choose a new content."
        raise GitcfgError(
            f"{counted(len(words), 'argument')} too many: the content cannot be an argument.", hint, _HINT
        )


def read_content(name: str, file: str | None) -> str:
    """Read the content of a secret. Raise GitcfgError if there is none, or it is not allowed in a secret."""
    from gitcfg.secrets.store import MOST_BYTES, parse_content

    most = MOST_BYTES + len(b"\r\n") + 1
    if file is not None and file != "-":
        with Path(file).open("rb") as opened:
            return parse_content(opened.read(most))
    if sys.stdin is None:
        raise GitcfgError("There is no content, because stdin is closed.", _HINT)
    if file is None and sys.stdin.isatty():
        return parse_content(_read_typed(name).encode("utf-8", "surrogateescape"))
    return parse_content(sys.stdin.buffer.read(most))


def _read_typed(name: str) -> str:
    """Ask for the content twice, without showing it."""
    import getpass
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            first = getpass.getpass(f"Content of {safe(name)}, not shown: ")
            second = getpass.getpass("Repeat the content: ")
    except getpass.GetPassWarning:
        raise GitcfgError("This terminal cannot hide what you type.", _HINT) from None
    except EOFError:
        raise GitcfgError("Nothing was typed.", _HINT) from None
    except UnicodeDecodeError:
        raise GitcfgError("The content is not valid UTF-8.", _HINT) from None
    if first != second:
        raise GitcfgError("The two entries differ, so nothing was changed.", _HINT)
    return first
