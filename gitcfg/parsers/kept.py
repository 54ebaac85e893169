"""What keeps verdicts from one run to the next; nothing does unless it is handed in."""

import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Protocol

from gitcfg.check.judge import Verdicts
from gitcfg.parsers.child.htcondor import installed


class Kept(Protocol):
    """Verdicts by key, many at once: one lookup and one write for each of thousands would cost most.

    A key is a SHA-256 over the question, the parser and its version. Only verdicts that follow from these
    are put: none that is owed to a limit, to a crash, or to a parser that is not installed.
    """

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, Verdicts]:
        """The verdicts that are there for these keys."""
        ...

    def put(self, found: Mapping[bytes, Verdicts]) -> None:
        """Keep verdicts."""
        ...


def version() -> bytes:
    """What verdicts depend on besides the text: the parsers' versions, and gitcfg's own."""
    libraries = (f"{name} {_installed(name)}" for name in ("gitcfg", "htcondor", "PyYAML"))
    there = "with HTCondor" if installed() else "without HTCondor"
    return "\n".join([sys.version, *libraries, there, ""]).encode()


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"
