"""Hostile input in a guarded child process: no network or environment, bounded time, memory and output."""

from gitcfg.sandbox.child import allow, serve, serve_many
from gitcfg.sandbox.guard import Closing, Guard, wait
from gitcfg.sandbox.protocol import GuardError, Killed, Limits, OutOfMemory, TimeUp, encoded

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
