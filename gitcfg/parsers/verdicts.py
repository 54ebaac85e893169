"""The cache of parsers' verdicts: one entry for all texts, since one file for each would cost more."""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from itertools import islice
from typing import Protocol

from gitcfg.cache import Cache
from gitcfg.check.target_parsers import Meant, Verdict, Verdicts
from gitcfg.model.names import shown
from gitcfg.parsers.child.htcondor import CONFIG, MARK, installed
from gitcfg.sandbox import GuardError

_QUESTION = "verdicts 1"
MOST = 1 << 16
"""The most verdicts that are kept: some 5 MB, and enough for the classes of most fleets."""


class CachedVerdicts:
    """A cache of the most recent verdicts. Their keys cover all that they depend on."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @cached_property
    def _known(self) -> dict[bytes, tuple[Verdict, ...]]:
        return self._cache.get(_QUESTION, dict[bytes, tuple[Verdict, ...]]) or {}

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, Verdicts]:
        """Return the known verdicts for these keys."""
        return {key: self._known[key] for key in keys if key in self._known}

    def put(self, found: Mapping[bytes, Verdicts]) -> None:
        """Add verdicts, in place of the oldest if there are too many."""
        for key, verdicts in found.items():
            self._known.pop(key, None)
            self._known[key] = verdicts
        for key in list(islice(self._known, max(0, len(self._known) - MOST))):
            del self._known[key]
        self._cache.put(_QUESTION, self._known)


# The interface of the cache, which is optional.


class VerdictCache(Protocol):
    """Verdicts by key, many at once: one lookup and one write for each of thousands would cost more.

    A key is the SHA-256 of the question, the parser and its version. Only verdicts that follow from these are
    added: none that is due to a limit, to a crash, or to a parser that is not installed.
    """

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, Verdicts]:
        """Return the known verdicts for these keys."""
        ...

    def put(self, found: Mapping[bytes, Verdicts]) -> None:
        """Add verdicts."""
        ...


def version() -> bytes:
    """Return all that verdicts depend on besides the text: the parsers' versions, and gitcfg's own."""
    libraries = (f"{name} {_installed(name)}" for name in ("gitcfg", "htcondor", "PyYAML"))
    there = "with HTCondor" if installed() else "without HTCondor"
    return "\n".join([sys.version, *libraries, there, ""]).encode()


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


# Why a parser's process ended: HTCondor's message about a file before it exits, or a limit.

_NAMES = {
    "classad": "HTCondor's parser for expressions",
    "condor": "HTCondor's own parser",
    "ini": "the parser for INI files",
    "yaml": "libyaml",
}
_REFUSAL = re.compile(rf"^Configuration Error Line (\d+) while reading file {CONFIG}$\n?", re.MULTILINE)
_WARNINGS = re.compile(rf"^Config source Warning \"{CONFIG}\", Line \d+: .*\n?", re.MULTILINE)
_WHERE = re.compile(rf"^Config source (?:Error \"{CONFIG}\", Line \d+: ?)?", re.MULTILINE)
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.]*)\s*=")


def refused(error: GuardError, text: str, meant: Meant | None) -> Verdict | None:
    """Return the verdict if HTCondor ended the process because it rejected the text, else None."""
    stderr = error.stderr.rpartition(MARK)[2]
    refusal = _REFUSAL.search(stderr)
    if refusal is None:
        return None
    line = max(int(refusal[1]), 1)
    content = text.split("\n", line)[line - 1 : line]
    said = " ".join(_WHERE.sub("", _WARNINGS.sub("", _REFUSAL.sub("", stderr))).split())
    why = f"with the message: {shown(said, 200)}" if said else f"which reads: {shown(''.join(content))}"
    name = _NAME.match("".join(content))
    params = (name[1],) if name and meant and name[1] in meant.values else ()
    return Verdict(f"is rejected by HTCondor's own parser at line {line}, {why}", line, params)


def ended(error: GuardError, format: str) -> Verdict:
    """Return the verdict on a text whose parser ended for any other reason."""
    name = _NAMES.get(format, f"the parser for {format.upper()}")
    return Verdict(f"cannot be checked: {name} {error.reason}")
