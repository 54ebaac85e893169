"""Hostile input in a guarded child process: no network or environment, bounded time, memory and output."""

from gitcfg.guard.child import allow, serve, serve_many
from gitcfg.guard.closing import Closing
from gitcfg.guard.frames import encoded
from gitcfg.guard.guard import Guard, wait
from gitcfg.guard.limits import GuardError, Killed, Limits, OutOfMemory, TimeUp

__all__ = [
    "Closing",
    "Guard",
    "GuardError",
    "Killed",
    "Limits",
    "OutOfMemory",
    "TimeUp",
    "allow",
    "encoded",
    "serve",
    "serve_many",
    "wait",
]
