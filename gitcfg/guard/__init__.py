"""Hostile input in a guarded child process: no network or environment, bounded time, memory and output."""

from gitcfg.guard.child import serve, serve_many
from gitcfg.guard.closing import Closing
from gitcfg.guard.frames import encoded
from gitcfg.guard.guard import Guard, wait
from gitcfg.guard.limits import GuardError, Killed, Limits, OutOfMemory

__all__ = [
    "Closing",
    "Guard",
    "GuardError",
    "Killed",
    "Limits",
    "OutOfMemory",
    "encoded",
    "serve",
    "serve_many",
    "wait",
]
