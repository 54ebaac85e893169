"""Running commands and measuring what they use: time, memory, and limits so that nothing runs away."""

from bench.measure.process import Command, Limits, Usage, run
from bench.measure.record import Record, Row
from bench.measure.turns import Turns, take_turns

__all__ = ["Command", "Limits", "Record", "Row", "Turns", "Usage", "run", "take_turns"]
