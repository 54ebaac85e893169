"""Asks targets' own parsers about texts: each distinct one once, in a guarded child process."""

import contextlib
import hashlib
from functools import cached_property
from types import TracebackType
from typing import Any, Self

import msgspec

from gitcfg.check.judge import Meant, Verdict
from gitcfg.guard import Guard, GuardError, Limits
from gitcfg.parsers.refusal import ended, refused

_CHILD = "gitcfg.parsers.child"
_LARGEST = 16 << 20
_LIMITS = Limits(cpu_seconds=3.0, wall_seconds=30.0, file=2 * _LARGEST)
_MOST_ENDS = 20


class Parsers:
    """Parsers for what is rendered; close them at the end.

    `unjudged` counts the distinct HTCondor files that were looked at without HTCondor's own parser,
    since it is not installed. What uses up its time or memory is costly, so that there is an end to it.
    """

    formats = frozenset({"condor", "ini", "json", "toml", "yaml"})

    def __init__(self) -> None:
        self._guard = Guard(_CHILD, _LIMITS)
        self._known: dict[bytes, tuple[Verdict, ...]] = {}
        self._ends = 0
        self.unjudged = 0

    def begin(self) -> None:
        """Start the child; it loads what it needs while others work."""
        with contextlib.suppress(GuardError):  # then the first question says so
            self._guard.begin()

    def judge(self, format: str, text: str, meant: Meant | None) -> tuple[Verdict, ...]:
        """What is wrong with a text."""
        request = _request(format, text, meant)
        key = hashlib.sha256(msgspec.msgpack.encode(request)).digest()
        if key not in self._known:
            self._known[key] = self._judged(request, meant)
        return self._known[key]

    def _judged(self, request: dict[str, Any], meant: Meant | None) -> tuple[Verdict, ...]:
        if len(request["text"]) > _LARGEST:
            return (Verdict(f"is larger than {_LARGEST >> 20} MiB, too large to be judged", grave=False),)
        if request["format"] == "condor" and not self._condor:
            self.unjudged += 1
            request = {**request, "format": "condor_text"}
        if self._ends >= _MOST_ENDS:
            reason = f"is not judged, for {_MOST_ENDS} others have ended their parsers"
            return (Verdict(reason, grave=False),)
        return self._asked(request, meant)

    def _asked(self, request: dict[str, Any], meant: Meant | None) -> tuple[Verdict, ...]:
        try:
            found = self._guard.request(request)
        except GuardError as error:
            refusal = refused(error, request["text"], meant)
            self._ends += refusal is None
            return (refusal or ended(error, request["format"]),)
        return tuple(
            Verdict(reason, line, tuple(params), hint, grave) for reason, line, params, hint, grave in found
        )

    @cached_property
    def _condor(self) -> bool:
        """Is HTCondor's parser installed, and one that answers as expected?"""
        try:
            return bool(self._guard.request({"look": "condor"}))
        except GuardError:
            return False

    def close(self) -> None:
        """End the child."""
        self._guard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _request(format: str, text: str, meant: Meant | None) -> dict[str, Any]:
    """Values go as JSON, which knows integers of any size."""
    values = None if meant is None else msgspec.json.encode(meant.values)
    apart = {} if meant is None else _apart(meant)
    return {"format": format, "text": text, "values": values, "separators": apart}


def _apart(meant: Meant) -> dict[str, str | None]:
    return {
        name: meant.separators.get(name) for name, value in meant.values.items() if isinstance(value, list)
    }
