"""Check-ins: what runs, results of installations, drift, and the facts of the machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..install.drift import Drift, find_drift
from ..install.outcome import Busy, Damaged, InstallError
from .agent import Agent
from .client import Target, check_in
from .config import REPAIR
from .errors import Declined
from .update import mend

SCHEMA = "gitcfg.checkin/1"
MOST_BYTES = 60_000
"""The size limit of a check-in: a server accepts 64 KiB."""
SIZES = ((200, 32_768), (100, 8_192), (50, 0))
"""Limits of drifted files and of characters of their differences; the first pair that fits is used."""
_UNFIT = (400, 413, 422)


def report(agent: Agent, next_round: float = 0.0) -> Target:
    """Check in, once for each result that was not reported yet; return what the node must run.

    `next_round` is the time of the next planned check-in, 0 if there is none.
    """
    found = _find_drift(agent)
    while True:
        results = agent.memory.results
        try:
            body = _encode(agent, found)
            with agent.signals.waiting():
                target = check_in(agent.client, agent.memory.sequence, body)
        except Declined as error:
            if not results or error.status not in _UNFIT:
                raise
            agent.say(f"The server rejected the result of {results[0].get('commit')}: {error.message}")
            agent.remember(results=results[1:])
            continue
        agent.record_answer(target, results=results[1:], next=next_round)
        if len(results) < 2:
            return target


def _encode(agent: Agent, found: tuple[Drift, ...]) -> bytes:
    """Return the largest body that fits. Characters that JSON escapes in six bytes prevent an estimate."""
    raw = b""
    for files, text in SIZES:
        changed = [one._asdict() for one in limit_drift(found, files, text)]
        raw = json.dumps({**_state(agent), "drift": changed}, ensure_ascii=False).encode("utf-8", "replace")
        if len(raw) <= MOST_BYTES:
            break
    return raw


def _state(agent: Agent) -> dict[str, Any]:
    running = agent.running(agent.read_in_force())
    results = agent.memory.results
    return {
        "schema": SCHEMA,
        "node": agent.settings.node,
        "running": {
            "commit": running.commit if running else None,
            "digest": running.digest if running else None,
            "since": running.since if running else None,
        },
        "result": dict(results[0]) if results else None,
        "facts": agent.facts,
        "version": agent.version,
        "clock_offset": agent.client.clock.offset,
        "interval": agent.settings.interval,
    }


def _find_drift(agent: Agent) -> tuple[Drift, ...]:
    """Return the drift, repaired first if agent.toml says so, which works without a server too."""
    try:
        known, found = agent.drifted, find_drift(agent.place)
        agent.drifted = found
        if found and agent.settings.drift == REPAIR:
            return mend(agent, found)
        if found and found != known:
            agent.tell(
                f"Files were changed by hand and are not repaired: {', '.join(one.path for one in found)}."
            )
    except Busy:
        return agent.drifted  # another program is installing right now: the next check-in reports the drift
    except Damaged:
        return ()  # the intended files are unknown; `settle` has reported that
    except (InstallError, OSError) as error:
        agent.explain(error)
    return agent.drifted


def limit_drift(found: tuple[Drift, ...], files: int, text: int) -> list[Drift]:
    """Return at most `files` files and `text` characters of differences, with a note of what is left out."""
    kept: list[Drift] = []
    for one in found[:files]:
        diff = one.diff if len(one.diff) <= text else "(not shown: too long)\n"
        text -= min(text, len(one.diff))
        kept.append(Drift(one.path, one.kind, diff))
    rest = len(found) - len(kept)
    if rest:
        kept[-1] = Drift(kept[-1].path, kept[-1].kind, f"{kept[-1].diff}(and {rest} more files)\n")
    return kept


# The facts of the machine, read from files: no program is run.

Facts = dict[str, "str | int"]

_CONDOR_FOLDERS = ("usr/lib64", "usr/lib64/condor", "usr/lib", "usr/lib/condor", "usr/lib/{arch}-linux-gnu")
_CONDOR = re.compile(r"libcondor_utils_(\d+)_(\d+)_(\d+)\.so")


def find_facts(root: str = "/") -> Facts:
    """Return the facts by name, without those that cannot be found out."""
    system = os.uname()
    known: Facts = {"hostname": system.nodename, "kernel": system.release, "arch": system.machine}
    known["cpus"] = len(os.sched_getaffinity(0))
    release = dict(line.split("=", 1) for line in _lines(root, "etc/os-release") if "=" in line)
    known["os"], known["os_version"] = (
        release.get(key, "").strip().strip("\"'")[:100] for key in ("ID", "VERSION_ID")
    )
    for more in (_memory(root), _model(root), _condor(root, system.machine)):
        known.update(more)
    return {name: value for name, value in known.items() if value}


def _lines(root: str, path: str) -> Iterator[str]:
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            yield from (line.rstrip("\n") for line in file)
    except OSError:
        return


def _memory(root: str) -> Facts:
    for line in _lines(root, "proc/meminfo"):
        if line.startswith("MemTotal:"):
            words = line.split()
            return {"memory_mib": int(words[1]) // 1024} if words[1].isdigit() else {}
    return {}


def _model(root: str) -> Facts:
    found = (
        line.partition(":")[2].strip()
        for line in _lines(root, "proc/cpuinfo")
        if line.startswith("model name")
    )
    return {"cpu": next(found, "")[:100]}


def _condor(root: str, arch: str) -> Facts:
    """Return HTCondor's version, which is part of the name of its library."""
    for folder in _CONDOR_FOLDERS:
        names: list[str] = []
        with suppress(OSError):
            names = sorted(os.listdir(os.path.join(root, folder.format(arch=arch))))
        for version in filter(None, map(_CONDOR.fullmatch, names)):
            return {"htcondor": ".".join(version.groups())}
    return {}
