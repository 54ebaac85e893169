"""HTCondor's configuration language: KEY = VALUE, one binding a line."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.flat import text_of, unfit_value
from gitcfg.render.formats.format import Separators, Unfit, present, unfit_name

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
# `if`, `elif`, `else` and `endif` are conditions even before a `=`; the others are commands before a `:`.
_WORDS = frozenset({"if", "elif", "else", "endif", "include", "use", "error", "warning"})


class Condor:
    """Files below /etc/condor."""

    name = "condor"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        lines = []
        for name, value in present(values):
            text = text_of(value, separators.get(name), "TRUE", "FALSE")
            lines.append(f"{name} = {text}\n" if text else f"{name} =\n")
        return "".join(lines)

    def spelling(self, name: str) -> str:
        return name.lower()

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        seen: dict[str, str] = {}
        for name, value in present(values):
            first = seen.setdefault(self.spelling(name), name)
            if first != name:
                yield unfit_name(name, f"HTCondor reads {first} and {name} as one name.")
            elif not _NAME.fullmatch(name):
                yield unfit_name(name, f"{name} is no name in HTCondor: letters, digits, _ and . are.")
            elif name.lower() in _WORDS:
                yield unfit_name(name, f"{name} is a word of HTCondor's own language.")
            yield from unfit_value(name, value, separators.get(name), _trimmed)


def _trimmed(text: str) -> str:
    """HTCondor's blanks are those of C; it keeps a no-break space, say."""
    return text.strip(" \t\n\v\f\r")
