"""HTCondor's configuration language: KEY = VALUE, one binding a line."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.flat import text_of, unfit_value
from gitcfg.render.formats.format import Separators, Unfit, present

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_WORDS = frozenset({"use", "include", "if", "elif", "else", "endif", "error", "warning"})


class Condor:
    """Files below /etc/condor."""

    name = "condor"
    nests = False

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        lines = []
        for name, value in present(values):
            text = text_of(value, separators.get(name), "TRUE", "FALSE")
            lines.append(f"{name} = {text}\n" if text else f"{name} =\n")
        return "".join(lines)

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            if not _NAME.fullmatch(name) or name.lower() in _WORDS:
                yield Unfit("GC309", (name,), f"HTCondor does not read {name} as a name.")
            yield from unfit_value(name, value, separators.get(name))
            if isinstance(value, str) and value != value.strip():
                yield Unfit("GC309", (name,), f"the value of {name} begins or ends with a blank.")
