"""What the far end says on the line: each step, how the installation ended, or why there was none."""

from __future__ import annotations

import json
import time
from typing import Any

from ..outcome import Outcome, outcome_to_json
from .line import FarLine
from .wire import DONE, PROBLEM, TOLD

_DONE = "done"


class Telling:
    """Tells the near end each step."""

    def __init__(self, line: FarLine) -> None:
        self._line = line

    def told(self, step: str, state: str) -> None:
        """One step, begun, done or failed; that it is done is heard with what comes next."""
        say = self._line.hold if state == _DONE else self._line.told
        say(TOLD, [json.dumps([step, state]).encode()])


def say_done(line: FarLine, outcome: Outcome, differences: dict[str, str], began: float) -> None:
    """How it ended; `began` is a moment of the monotonic clock."""
    seconds = round(time.monotonic() - began, 3)
    say(line, DONE, {"outcome": outcome_to_json(outcome), "differences": differences, "seconds": seconds})


def decline(line: FarLine, kind: str, message: str, *hints: str) -> None:
    """Why nothing was touched."""
    say(line, PROBLEM, {"kind": kind, "message": message, "hints": hints})


def say(line: FarLine, kind: int, said: dict[str, Any]) -> None:
    """A message of JSON."""
    line.say(kind, [json.dumps(said, separators=(",", ":")).encode()])
