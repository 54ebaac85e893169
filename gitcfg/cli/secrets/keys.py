"""Whose keys are meant: private ones that open secrets, and public ones that they are sealed for."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.model.age import Recipient
    from gitcfg.secrets import Identities

_MOST_BYTES = 1 << 20


def held(session: Session, said: Sequence[str] | None) -> "Identities":
    """The private keys that are named, else those that GITCFG_IDENTITY names, else those at the usual places.

    GitcfgError: one that is named cannot be used. Of the usual places, what cannot is only noted.
    """
    from gitcfg.secrets import identities

    named = said or [path for path in os.environ.get("GITCFG_IDENTITY", "").split(os.pathsep) if path]
    if not named:
        return usual()
    for path in named:
        _warn_of_readers(session, Path(path))
    try:
        return identities((safe(path), _content(Path(path))) for path in named)
    except OSError as error:
        hint = "" if said else "GITCFG_IDENTITY names it."
        raise GitcfgError(f"{safe(str(error.filename))}: {error.strerror}.", hint) from None


def usual() -> "Identities":
    """The private keys at the usual places; what cannot be used there is noted."""
    from gitcfg.secrets import Identities, identities

    found = Identities()
    for path in _places():
        try:
            found = found.joined(identities([(safe(str(path)), _content(path))]))
        except FileNotFoundError:
            continue
        except (OSError, GitcfgError) as problem:
            told = (
                problem.message
                if isinstance(problem, GitcfgError)
                else f"{safe(str(path))}: {problem.strerror}."
            )
            found = found.noting(told)
    return found


def _places() -> Iterator[Path]:
    home = os.environ.get("HOME")
    settings = os.environ.get("XDG_CONFIG_HOME") or (home and f"{home}/.config")
    if settings:
        yield Path(settings, "gitcfg", "identity.txt")
    if home:
        yield Path(home, ".ssh", "id_ed25519")


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _warn_of_readers(session: Session, path: Path) -> None:
    if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077:
        text = f"warning: Others than you may read {safe(str(path))}: `chmod 600` lets you alone."
        session.console(stderr=True).print(text, style="yellow")


def readers(words: Iterable[str]) -> "tuple[Recipient, ...]":
    """The public keys that words are, or that stand in the files that they name, each once.

    GitcfgError: one is no key, or a file has none.
    """
    from gitcfg.secrets.sealing import recipient

    found = [one for word in words for one in ([recipient(word)] if _is_key(word) else _in_file(word))]
    return tuple({one.key: one for one in found}.values())


def _is_key(word: str) -> bool:
    """Is it meant as a key, and be it a private one by mistake?"""
    return word.lstrip().lower().startswith(("age1", "age-", "ssh-", "-----"))


def _in_file(word: str) -> "list[Recipient]":
    from gitcfg.secrets.sealing import recipient

    try:
        text = _content(Path(word)).decode("utf-8", "replace")
    except FileNotFoundError:
        hint = "Keys are age1..., ssh-ed25519 AAAA... or ssh-rsa AAAA..., in quotes as they have blanks."
        raise GitcfgError(f"{shown(word)} is neither a key nor a file.", hint) from None
    if "PRIVATE KEY-----" in text or "AGE-SECRET-KEY" in text:
        raise GitcfgError(
            f"{shown(word)} holds a private key.", "Recipients are public keys: *.pub of OpenSSH's."
        )
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise GitcfgError(f"{shown(word)} holds no key.", "A file of recipients has a key in each line.")
    return [recipient(line) for line in lines]
