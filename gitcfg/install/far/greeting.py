"""What the far end tells of its node before it is asked for anything: read, with nothing touched."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from ..found import read_journal
from ..inforce import UNKNOWN
from ..outcome import OK, outcome_to_json
from ..owed import in_words
from ..place import Place
from ..problems import Damaged, InstallError
from ..record import read_report
from ..store import Store
from .view import holder, interrupted, record_of, viewed

AGENT_LOCK = "agent.lock"
_SETTINGS = "/etc/gitcfg/agent.toml"
_WANTS = "/etc/systemd/system/multi-user.target.wants"
_UNITS = (f"{_WANTS}/gitcfg-agent.service", "/etc/systemd/system/timers.target.wants/gitcfg-agent.timer")


def hello(place: Place) -> dict[str, Any]:
    """As the near end's Hello. Refused, or an OSError, where the state folder is not to be had."""
    said: dict[str, Any] = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "host": os.uname().nodename,
        "user": user(),
    }
    with viewed(place) as (store, there):
        said["agent"] = _agent(store, there)
        if there:
            said.update(_in_force(store))
    return said


def _in_force(store: Store) -> dict[str, Any]:
    busy = holder(store)
    said: dict[str, Any] = {"busy": busy, "interrupted": not busy and interrupted(store)}
    report = read_report(store)
    if report is not None:
        said["report"] = outcome_to_json(report)
    try:
        record = record_of(store, True)
    except Damaged as error:
        return {**said, "problem": error.message}
    except InstallError as error:
        return {**said, "problem": str(error)}
    package = record.package
    if record.owed:
        said["owed"] = list(in_words(record.owed))
    if package is not None and package.commit != UNKNOWN:
        said.update(commit=package.commit, digest=package.digest)
    return {**said, **(_decided(store) if said["interrupted"] else {})}


def _decided(store: Store) -> dict[str, Any]:
    """What an installation that died has decided on, though its record does not say so yet.

    The next one finishes that first, and begins from it: daemons have it already.
    """
    with suppress(InstallError):
        found = read_journal(store)
        if found is not None and found.end is not None and found.end.result == OK and found.commit != UNKNOWN:
            return {"commit": found.commit, "digest": found.digest}
    return {}


def _agent(store: Store, there: bool) -> str:
    """Whether an agent keeps this node: one runs where the kernel says that somebody has its lock."""
    if there and holder(store, AGENT_LOCK):
        return "running"
    found = (_SETTINGS, *_UNITS)
    return "installed" if any(store.tree.look(path).kind != "absent" for path in found) else ""


def user() -> str:
    """Who runs this."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
