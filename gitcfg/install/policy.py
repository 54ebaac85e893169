"""The node's own policy: the paths and commands that gitcfg may use, and those that it never may."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

# Paths and globs.

OWN_PREFIX = ".gitcfg-"
"""The prefix of temporary files beside a target while it is replaced."""

_MAX_PATH, _MAX_NAME, _MAX_DEPTH = 4000, 240, 100
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def find_path_problem(path: str) -> str | None:
    """Return why `path` is not a normal absolute path of a file; None if it is one."""
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    names = path.split("/")[1:]
    if not path.startswith("/") or not all(names) or any(name in (".", "..") for name in names):
        return "is not a normal absolute path"
    if _CONTROL.search(path):
        return "contains a control character"
    if len(raw) > _MAX_PATH or any(len(name.encode()) > _MAX_NAME for name in names):
        return "is too long"
    if len(names) > _MAX_DEPTH:
        return f"has more than {_MAX_DEPTH} folders"
    if any(name.startswith(OWN_PREFIX) for name in names):
        return f"has a name that begins with {OWN_PREFIX}, which is reserved for gitcfg"
    return None


def find_nested(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return a path that another path needs as a folder, and that other path."""
    known = set(paths)
    for path in sorted(known):
        for folder in folders_of(path):
            if folder in known:
                return folder, path
    return None


def folders_of(path: str) -> list[str]:
    """Return the folders that a path lies in, outermost first, without the root."""
    parts = path.split("/")[1:-1]
    return ["/" + "/".join(parts[: count + 1]) for count in range(len(parts))]


def parent_of(path: str) -> str:
    """Return the folder that a path lies in; "" is the root."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """Return a path's last name."""
    return path.rpartition("/")[2]


def matches(pattern: str, path: str) -> bool:
    """Return whether a glob matches: `*` and `?` within a name, `**` as a whole name over folders.

    `/etc/x/**` also matches `/etc/x` itself, so that a rule for a folder's content also covers the folder.
    """
    return _compile(pattern).fullmatch(path) is not None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    wild = {"*": "[^/]*", "?": "[^/]"}
    text = ""
    for name in pattern.split("/")[1:]:
        regex = "".join(wild.get(char, re.escape(char)) for char in name)
        text += "(?:/[^/]+)*" if name == "**" else f"/{regex}"
    return re.compile(text, re.DOTALL)


# What is allowed.

SETTINGS = "/etc/gitcfg/**"
NEVER = (SETTINGS, "/proc/**", "/sys/**", "/dev/**")
"""Paths that every policy forbids: gitcfg's own settings, and folders that are not storage."""

_UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/usr/local/lib/systemd/system",
    "/lib/systemd/system",
)
AGENT = (
    *(f"{folder}/gitcfg-agent*" for folder in _UNIT_FOLDERS),
    *(f"{folder}/gitcfg-agent*/**" for folder in _UNIT_FOLDERS),
    *(f"{folder}/gitcfg-.*.d/**" for folder in _UNIT_FOLDERS),  # of every unit whose name begins like that
    *(f"{folder}/*/gitcfg-agent*" for folder in _UNIT_FOLDERS),  # *.wants and similar folders
    "/usr/bin/gitcfg-agent",
    "/usr/local/bin/gitcfg-agent",
    "/opt/gitcfg-agent/**",
)
"""The usual paths of the agent's units and of its program."""

_OWN = (SETTINGS, "/var/lib/gitcfg/**", *AGENT)
_UNITS = tuple(f"gitcfg-agent{rest}" for rest in ("", ".service", ".timer", "-once", "-once.service"))
_ENDING = {
    *("stop", "restart", "try-restart", "condrestart", "force-stop", "kill", "mask", "disable", "freeze"),
    *("pkill", "killall"),
}
_COMES_BACK = ("restart", "try-restart")
_BY_PATTERN = ("pkill", "killall")
_HANGUP = ("-HUP", "-SIGHUP", "-1")
_WORD = re.compile(r"[^\s;&|()'\"`]+")


def is_own(path: str) -> bool:
    """Return whether a path belongs to gitcfg itself on a node with the usual setup, which refuses it."""
    return any(matches(glob, path) for glob in _OWN)


def holds_own(folder: str) -> bool:
    """Return whether something directly in a folder may be gitcfg's own."""
    tops = (glob[:-3] if glob.endswith("/**") else glob for glob in _OWN)
    return is_own(folder) or any(matches(parent_of(top), folder) for top in tops)


def stops_agent(command: Sequence[str]) -> bool:
    """Return whether a command, by its words, ends the agent or prevents its next start.

    A restart of the agent would wait for the installation that the command is a part of, unless it does not
    wait (`--no-block`).
    """
    words = [word for part in command for word in _WORD.findall(part)]
    names = [name_of(word) for word in words]
    ending = _ENDING.intersection(names)
    if "--no-block" in words:
        ending = ending.difference(_COMES_BACK)
    if not ending or not ending.isdisjoint(_BY_PATTERN):
        spared = not ending or any(word in _HANGUP for word in words)
        return not spared and any(_finds_agent(name) for name in names if name not in _BY_PATTERN)
    globs = "systemctl" in names
    return any(unit == name or (globs and fnmatchcase(unit, name)) for name in names for unit in _UNITS)


def _finds_agent(pattern: str) -> bool:
    try:
        return len(pattern) > 1 and not pattern.startswith("-") and bool(re.search(pattern, _UNITS[0]))
    except re.error:
        return False


class Policy(NamedTuple):
    """Globs of paths (`**` over folders) and patterns of commands.

    A pattern's words are exact, `*` is one word, `**` at the end is the rest; the first word is a program's
    absolute path. A command that names a program without a folder is run with the path of the pattern, so
    that a repository need not know where this node has the program. The pattern `["**"]` allows every
    command. `never` adds to what is always refused.
    """

    paths: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    never: tuple[str, ...] = ()

    @classmethod
    def everything(cls) -> Policy:
        """Return a policy for root that allows everything but what is always refused."""
        return cls(("/**",), (("**",),))

    def allows_path(self, path: str, state: str) -> bool:
        """Return whether a file may be written or removed; `state` is the state folder's path."""
        never = (*NEVER, *self.never, f"{state}/**")
        is_refused = any(matches(glob, path) for glob in never)
        return not is_refused and any(matches(glob, path) for glob in self.paths)

    def resolve(self, command: Sequence[str]) -> tuple[str, ...] | None:
        """Return the command as it is run; None if no pattern allows it, or if it ends the agent."""
        if stops_agent(command):
            return None
        fitted = (_fit(pattern, command) for pattern in self.commands)
        return next((one for one in fitted if one is not None), None)


def find_refusals(
    policy: Policy, paths: Iterable[str], commands: Iterable[Sequence[str]], state: str
) -> tuple[str, ...]:
    """Return everything that the policy does not allow, in sentences."""
    bad_paths = [path for path in sorted(set(paths)) if not policy.allows_path(path, state)]
    bad_commands = [line for line in sorted({tuple(one) for one in commands}) if policy.resolve(line) is None]
    return (
        *(f"This node's policy does not allow the path {path}." for path in bad_paths),
        *(f"This node's policy does not allow the command {list(line)}." for line in bad_commands),
    )


def _fit(pattern: Sequence[str], command: Sequence[str]) -> tuple[str, ...] | None:
    if not pattern or not command:
        return None
    if tuple(pattern) == ("**",):
        return tuple(command)
    program, words = pattern[0], command[1:]
    if not program.startswith("/") or command[0] not in (program, name_of(program)):
        return None
    allowed, compared = pattern[1:], words
    if allowed and allowed[-1] == "**":
        allowed, compared = allowed[:-1], words[: len(allowed) - 1]
    fits = len(allowed) == len(compared) and all(one in ("*", word) for one, word in zip(allowed, compared))
    return (program, *words) if fits else None
