"""Values of the right type out of a TOML table, with messages that name the key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .problems import SettingsError

_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MOST = 7 * 86400.0


class Reader:
    """Takes keys out of a table; what nobody took in the end is refused."""

    def __init__(self, said: Mapping[str, Any], path: str) -> None:
        self._said = dict(said)
        self._path = path
        self._known: list[str] = []

    def wrong(self, key: str, why: str, *hints: str) -> SettingsError:
        """An error about a key."""
        return SettingsError(f"{self._path}: `{key}` {why}.", *hints)

    def finished(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._said:
            import difflib

            near = difflib.get_close_matches(key, self._known, 1)
            hint = f"Did you mean `{near[0]}`?" if near else f"It knows {', '.join(sorted(self._known))}."
            raise self.wrong(key, "is not a key that this version knows", hint)

    def _take(self, key: str, default: object) -> Any:
        self._known.append(key)
        return self._said.pop(key, default)

    def text(self, key: str, default: str) -> str:
        """Text."""
        value = self._take(key, default)
        if not isinstance(value, str) or "\0" in value:
            raise self.wrong(key, "must be text")
        return value

    def switch(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "must be true or false")
        return value

    def choice(self, key: str, words: Sequence[str]) -> str:
        """One of some words; the first if it is not there."""
        value = self.text(key, words[0])
        if value not in words:
            raise self.wrong(key, f"is {value!r}, and must be one of {', '.join(words)}")
        return value

    def seconds(self, key: str, default: float, least: float = 0.0) -> float:
        """A length of time: `500ms`, `60s`, `10m`, `2h`, `7d`."""
        value = self._take(key, None)
        if value is None:
            return default
        found = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise self.wrong(key, "must be a length of time", "Write 500ms, 60s, 10m or 2h.")
        length = int(found[1]) * _SECONDS[found[2]]
        if not least <= length <= _MOST:
            raise self.wrong(key, f"must be from {least:g}s to 7d")
        return length

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one alone is a list of one."""
        value = self._take(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or any(not isinstance(one, str) or "\0" in one for one in listed):
            raise self.wrong(key, "must be text, or a list of texts")
        return tuple(listed)

    def paths(self, key: str) -> Iterator[str]:
        """Paths from the root on, which may be globs."""
        for path in self.texts(key):
            if not path.startswith("/") or any(name in ("", ".", "..") for name in path.split("/")[1:]):
                raise self.wrong(key, f"has {path!r}; whole paths are meant")
            yield path

    def line(self, key: str) -> tuple[str, ...]:
        """A command as the list of its words; empty if it is not there."""
        value = self._take(key, [])
        return () if value == [] else self._words(key, value)

    def lines(self, key: str) -> Iterator[tuple[str, ...]]:
        """A list of commands."""
        value = self._take(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "must be a list of commands")
        for one in value:
            yield self._words(key, one)

    def _words(self, key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or any(not isinstance(word, str) for word in value):
            raise self.wrong(key, "must have each command as the list of its words", '["/usr/bin/x", "**"]')
        return tuple(value)

    def tables(self, key: str) -> tuple[Mapping[str, Any], ...]:
        """A list of tables."""
        value = self._take(key, [])
        if not isinstance(value, list) or any(not isinstance(one, dict) for one in value):
            raise self.wrong(key, "must be a list of tables", '[{htcondor = "/etc/..."}]')
        return tuple(value)
