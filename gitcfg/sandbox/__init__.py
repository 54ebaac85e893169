"""Hostile input in a guarded child process: no network or environment, bounded time, memory and output."""

from gitcfg.sandbox.child import allow, serve, serve_many
from gitcfg.sandbox.closing import Closing
from gitcfg.sandbox.frames import encoded
from gitcfg.sandbox.guard import Guard, wait
from gitcfg.sandbox.limits import GuardError, Killed, Limits, OutOfMemory, TimeUp

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
