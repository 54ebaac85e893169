"""Environment files, as a shell and systemd read them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.flat import text_of, unfit_value
from gitcfg.render.formats.format import Separators, Unfit, present, unfit_name

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_SPECIAL = re.compile(r'(["\\$`])')
# Where sh is bash these are read-only, and the rest of the file would not be read; dash ends at an OPTIND
# that is no number; `_` is set anew with each command.
_OF_SHELLS = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "OPTIND", "PPID", "SHELLOPTS", "UID", "_"})


class Env:
    """NAME=value, in quotes where it must be."""

    name = "env"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        found = ((name, text_of(value, separators.get(name))) for name, value in present(values))
        return "".join(f"{name}={_quoted(text)}\n" for name, text in found)

    def spelling(self, name: str) -> str:
        return name

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            if not _NAME.fullmatch(name):
                yield unfit_name(name, f"{name} is no name of a variable: letters, digits and _ are.")
            elif name in _OF_SHELLS:
                yield unfit_name(name, f"{name} is a variable that shells set themselves.")
            yield from unfit_value(name, value, separators.get(name))


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = _SPECIAL.sub(r"\\\1", text)
    return f'"{escaped}"'
