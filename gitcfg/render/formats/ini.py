"""INI files: what stands before the last dot of a name is its section."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from gitcfg.render.formats.flat import text_of, unfit_value
from gitcfg.render.formats.format import Separators, Unfit, present, unfit_name

_NAME = re.compile(r"(?:[A-Za-z0-9_.-]+\.)?[A-Za-z0-9_-]+")


class Ini:
    """Keys without a section come first."""

    name = "ini"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        rows = sorted(
            (*_place(name), text_of(value, separators.get(name))) for name, value in present(values)
        )
        parts = []
        for section, found in groupby(rows, key=lambda row: row[0]):
            head = f"[{section}]\n" if section else ""
            parts.append(
                head + "".join(f"{key} = {text}\n" if text else f"{key} =\n" for _, key, text in found)
            )
        return "\n".join(parts)

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            if not _NAME.fullmatch(name):
                yield unfit_name(name, f"{name} is no section and key of letters, digits, _ and -.")
            elif _place(name)[0] == "DEFAULT":
                yield unfit_name(name, f"{name} would stand in DEFAULT, which readers add to every section.")
            yield from unfit_value(name, value, separators.get(name), str.strip)


def _place(name: str) -> tuple[str, str]:
    section, _, key = name.rpartition(".")
    return section, key
