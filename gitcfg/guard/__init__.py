"""Hostile input in a guarded child process: no network or environment, bounded time, memory and output."""

from gitcfg.guard.child import serve
from gitcfg.guard.guard import Guard
from gitcfg.guard.limits import GuardError, Limits

__all__ = ["Guard", "GuardError", "Limits", "serve"]
