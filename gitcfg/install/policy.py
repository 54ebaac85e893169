"""Which paths and commands this node's own policy lets gitcfg use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .paths import matches

NEVER = ("/etc/gitcfg/**", "/proc/**", "/sys/**", "/dev/**")
"""Whatever a policy says: gitcfg's own settings, and what is no storage."""


class Policy(NamedTuple):
    """Globs of paths (`**` over folders) and patterns of commands.

    A pattern's words are exact, `*` is one word, `**` at the end is the rest; the first word is a program's
    absolute path. A command that names a program without a folder is run as the pattern's path of that name,
    so that a repository need not know where this node keeps it. The pattern `["**"]` lets every command run.
    `never` adds to what is always refused.
    """

    paths: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    never: tuple[str, ...] = ()

    @classmethod
    def everything(cls) -> Policy:
        """For who already is root on the node: what is always refused remains."""
        return cls(("/**",), (("**",),))

    def allows_path(self, path: str, state: str) -> bool:
        """Whether a file may be written or removed; `state` is the state folder's path."""
        never = (*NEVER, *self.never, f"{state}/**")
        if any(matches(glob, path) for glob in never):
            return False
        return any(matches(glob, path) for glob in self.paths)

    def resolved(self, command: Sequence[str]) -> tuple[str, ...] | None:
        """The command as it is run; None if no pattern lets it."""
        found = (_fitted(pattern, command) for pattern in self.commands)
        return next((fitted for fitted in found if fitted is not None), None)


def refusals(
    policy: Policy, paths: Iterable[str], commands: Iterable[Sequence[str]], state: str
) -> tuple[str, ...]:
    """Everything that the policy does not let through, in sentences."""
    bad_paths = [path for path in sorted(set(paths)) if not policy.allows_path(path, state)]
    bad_commands = [
        line for line in sorted({tuple(one) for one in commands}) if policy.resolved(line) is None
    ]
    return (
        *(f"The path {path} is not one that this node's policy allows." for path in bad_paths),
        *(f"The command {list(line)} is not one that this node's policy allows." for line in bad_commands),
    )


def _fitted(pattern: Sequence[str], command: Sequence[str]) -> tuple[str, ...] | None:
    if not pattern or not command:
        return None
    if tuple(pattern) == ("**",):
        return tuple(command)
    program = _program(pattern[0], command[0])
    if program is None or not _rest_fits(pattern[1:], command[1:]):
        return None
    return (program, *command[1:])


def _program(allowed: str, named: str) -> str | None:
    if not allowed.startswith("/"):
        return None
    return allowed if named in (allowed, allowed.rpartition("/")[2]) else None


def _rest_fits(pattern: Sequence[str], words: Sequence[str]) -> bool:
    if pattern and pattern[-1] == "**":
        pattern, words = pattern[:-1], words[: len(pattern) - 1]
    return len(pattern) == len(words) and all(one in ("*", given) for one, given in zip(pattern, words))
