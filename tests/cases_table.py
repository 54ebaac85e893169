"""Tables of operations in cases: what each operation makes of each thing that may lie below it.

The heading line names, behind `|`, what lower layers say (the default group's binding, or `nothing`);
each further line has an operation (group `top` binds it, `nothing`: not at all) and behind `|` the value
that comes out for node `n1` as JSON, or `nothing`, or the code of a finding. Every cell is a parameter of
its own, declared as the section's heading says.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.git.tree import Content

NOTHING = "nothing"
_BAR = re.compile(r"\s\|(?=\s|$)")
_CODE = re.compile(r"GC\d{3}")


class Cell(msgspec.Struct, frozen=True):
    """One cell: the parameter that stands for it, what is bound below and above, what is expected."""

    param: str
    declaration: str
    below: str
    above: str
    expected: str

    @property
    def finding(self) -> bool:
        """Does it expect a finding, and no value?"""
        return bool(_CODE.fullmatch(self.expected))

    def difference(self, params: Mapping[str, Any]) -> str | None:
        """How the value that came out is not the one that is expected."""
        if self.finding:
            return None
        found = encoded(params[self.param]) if self.param in params else NOTHING
        wanted = self.expected if self.expected == NOTHING else encoded(msgspec.json.decode(self.expected))
        if found == wanted:
            return None
        return f"{self.declaration} {self.above} on {self.below}: expected {wanted}, found {found}"


def encoded(value: Any) -> str:
    """A value as JSON; `1`, `1.0`, `true` and `"1"` are four."""
    return msgspec.json.encode(value, order="sorted").decode()


def read_table(number: int, declaration: str, body: str) -> Iterator[Cell]:
    """The cells of a table."""
    (_, *below), *rows = [[cell.strip() for cell in _BAR.split(line)] for line in body.splitlines() if line]
    for row, (above, *values) in enumerate(rows):
        for column, value in enumerate(values):
            name = f"T{number}_{row}_{column}"
            yield Cell(name, declaration, below[column], above, value)


def spread(cells: list[Cell], files: dict[str, Content]) -> None:
    """Add the files to a repository that the cells stand for."""
    files["parameters/table.yaml"] = _listing("parameters", ((c.param, c.declaration) for c in cells))
    files["groups/default.yaml"] = _listing("params", ((c.param, c.below) for c in cells))
    files["groups/top.yaml"] = _listing("params", ((c.param, c.above) for c in cells))
    files.setdefault("nodes/n1.yaml", "groups: [top]\n")


def _listing(key: str, entries: Iterator[tuple[str, str]]) -> str:
    lines = [f"  {name}: {text}\n" for name, text in entries if text != NOTHING]
    return f"{key}:\n{''.join(lines)}" if lines else "{}\n"
