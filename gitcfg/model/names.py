"""Legal names (GC103), the nearest name to a misspelt one, globs, and the names of folders."""

import difflib
import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from gitcfg.model.findings import GitcfgError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+@-]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
FAMILY = re.compile(r"[A-Za-z_*?][A-Za-z0-9_.*?-]*")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


def shown(text: str, most: int = 60) -> str:
    """Return a text as a message quotes it: on one line, and shortened."""
    quoted = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return quoted if len(quoted) <= most else quoted[: most - 3] + "..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known name, or an empty text."""
    folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold()[:80], folded, n=1, cutoff=0.75)
    begun = [full for start, full in folded.items() if start.startswith(name.casefold())]
    if near or len(begun) == 1:
        return meant(folded[near[0]] if near else begun[0])
    return ""


def find_host(name: str, hosts: Collection[str]) -> str | None:
    """Return the host that a name means: itself, or the only host whose first labels it is.

    Return None if it does not name a host. Raise GitcfgError if it is short for several hosts.
    """
    if name in hosts:
        return name
    full = sorted(host for host in hosts if host.startswith(f"{name}."))
    if len(full) > 1:
        some = ", ".join(full[:3]) + (f" and {len(full) - 3} more" if len(full) > 3 else "")
        raise GitcfgError(f"{shown(name)} is short for several nodes: {some}.", "Use the full name.")
    return full[0] if full else None


def meant(name: str) -> str:
    """Return the hint that proposes a name."""
    return f"Did you mean {name}?"


# Globs over names: `*` matches any text, dots included, `?` one character.


class Glob:
    """A pattern, matched piece by piece between its stars: one regular expression would backtrack."""

    def __init__(self, pattern: str) -> None:
        pieces = re.split(r"\*+", pattern)
        first, *rest = (re.compile(_piece(piece)) for piece in pieces)
        self._first, self._middle, self._last = first, rest[:-1], rest[-1] if rest else None
        self._length = len(pieces[-1])

    def matches(self, name: str) -> bool:
        """Return whether the pattern matches the whole name."""
        if self._last is None:
            return self._first.fullmatch(name) is not None
        found = self._first.match(name)
        for piece in self._middle:
            found = piece.search(name, found.end()) if found else None
        start = len(name) - self._length
        return found is not None and start >= found.end() and self._last.match(name, start) is not None


def _piece(text: str) -> str:
    return "".join("." if character == "?" else re.escape(character) for character in text)


@lru_cache(maxsize=4096)
def glob(pattern: str) -> Glob:
    """Return the compiled pattern."""
    return Glob(pattern)


def is_glob(text: str) -> bool:
    """Return whether a text has wildcards."""
    return "*" in text or "?" in text


def literals(pattern: str) -> int:
    """Return the number of literal characters in a pattern."""
    return sum(character not in "*?" for character in pattern)


@lru_cache(maxsize=1 << 16)
def selects(patterns: tuple[str, ...], name: str) -> bool:
    """Return whether a pattern matches the name, and no pattern that begins with `!` does.

    Exclusions alone match all other names.
    """
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    inside = not wanted or any(glob(pattern).matches(name) for pattern in wanted)
    return bool(patterns) and inside and not any(glob(pattern).matches(name) for pattern in unwanted)


# The only list of the folders of a repository and what they contain.

SETTINGS = "gitcfg.yaml"
SIGNERS = "allowed_signers"
"""The file with the keys that may sign commits, in ssh-keygen's format."""

LAYERS = ("features", "groups", "nodes", "nodesets", "overrides")
"""Folders with one definition a file; the definitions have bindings and files."""
SINGLES = (*LAYERS, "holds", "secrets", "allocations")
"""Folders with one definition a file, named as the file.

In secrets/ each has its encrypted content next to it.
"""
SHEETS = ("parameters", "subsystems", "rules")
"""Folders with many definitions a file, by name under a key that is the folder's name."""
TEXTS = ("templates", "files")
"""Folders with files of any content, known by their paths."""
FOLDERS = (*SHEETS, *SINGLES, *TEXTS, "keys")
"""All folders that gitcfg reads."""
