"""INI files: what stands before the last dot of a name is its section."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from gitcfg.render.formats.flat import text_of, unfit_value
from gitcfg.render.formats.format import Separators, Unfit, present


class Ini:
    """Keys without a section come first."""

    name = "ini"
    nests = False

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        rows = sorted((_place(name), text_of(value, separators.get(name))) for name, value in present(values))
        parts = []
        for section, found in groupby(rows, key=lambda row: row[0][0]):
            head = f"[{section}]\n" if section else ""
            parts.append(head + "".join(f"{key} = {text}".rstrip() + "\n" for (_, key), text in found))
        return "\n".join(parts)

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            section, key = _place(name)
            if not key or (not section and "." in name) or section == "DEFAULT":
                yield Unfit("GC309", (name,), f"{name} names no section and key.")
            yield from unfit_value(name, value, separators.get(name))
            if isinstance(value, str) and value != value.strip():
                yield Unfit("GC309", (name,), f"the value of {name} begins or ends with a blank.")


def _place(name: str) -> tuple[str, str]:
    section, _, key = name.rpartition(".")
    return section, key
