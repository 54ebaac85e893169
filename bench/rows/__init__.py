"""Which rows a fleet has: of gitcfg, of each peer, and of the floors."""

from bench.rows.fleet import Prepared, prepare
from bench.rows.floors import floor_rows
from bench.rows.gitcfg import gitcfg_rows
from bench.rows.tools import tool_rows

__all__ = ["Prepared", "floor_rows", "gitcfg_rows", "prepare", "tool_rows"]
