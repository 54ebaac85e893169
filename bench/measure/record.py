"""A row of the table: what to measure, and what was measured."""

from collections.abc import Callable
from pathlib import Path
from statistics import median

import msgspec

from bench.measure.process import Command


def nothing() -> None:
    """What a row does before it, where any state will do."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A command to be measured: which tool does what on which fleet, in which state.

    `before` makes the state, untimed. `judge` reads what was printed and says how much of it is right;
    ValueError: it is wrong. `inner`: the program prints figures of its work itself, as JSON.
    """

    fleet: str
    tool: str
    work: str
    command: Command
    state: str = ""
    nodes: int = 0
    before: Callable[[], None] = nothing
    judge: Callable[[Path], str] | None = None
    inner: bool = False
    once: bool = False


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was measured, run by run; `note` says why there is nothing, or what is particular.

    `yardstick` is the yardstick's CPU in the same session, of which the ratio is; `version` the tool's.
    """

    fleet: str
    tool: str
    work: str
    state: str = ""
    cpu: tuple[float, ...] = ()
    wall: tuple[float, ...] = ()
    rss: tuple[float, ...] = ()
    nodes: int = 0
    right: str = ""
    note: str = ""
    yardstick: float | None = None
    version: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Which row of the table it is."""
        return self.fleet, self.tool, self.work, self.state

    @property
    def seconds(self) -> float | None:
        """Median of CPU."""
        return median(self.cpu) if self.cpu else None

    @property
    def ratio(self) -> float | None:
        """CPU, of the yardstick's."""
        return median(self.cpu) / self.yardstick if self.cpu and self.yardstick else None
