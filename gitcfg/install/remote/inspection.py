"""The state of a node, read with nothing touched: what the far end says before it is asked for anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..disk import Tree
from ..errors import Damaged, InstallError
from ..journal import read_journal
from ..outcome import OK, outcome_to_json
from ..paths import parent_of
from ..place import Place
from ..record import UNKNOWN, Record, debt_titles, read_in_force, read_report
from ..store import JOURNAL, Store, open_store
from ..store import NAME as LOCK


@contextmanager
def view_store(place: Place) -> Iterator[tuple[Store, bool]]:
    """The store, and whether it is there; else its place is taken by the nearest folder that is.

    Refused as `opened` is.
    """
    top = os.path.abspath(place.root)
    root = place.disk.folder(top)
    try:
        tree = Tree(place.disk, root)
        if not tree.missing_folders([f"{place.folder}/x"]):
            with open_store(place) as store:
                yield store, True
            return
        nearest = place.folder
        while tree.missing_folders([f"{nearest}/x"]):
            nearest = parent_of(nearest)
        with tree.folder(nearest) as at:
            yield Store(place.disk, tree, at, os.path.join(top, place.folder[1:])), False
    finally:
        os.close(root)


def read_record_of(store: Store, there: bool) -> Record:
    """Return the package in force, and the activations that it owes."""
    return read_in_force(store) if there else Record()


def lock_holder(store: Store, name: str = LOCK) -> str:
    """Return the holder of a lock, or nothing."""
    import fcntl

    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=store.at)
    except OSError:
        return ""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.pread(file, 200, 0).decode(errors="replace") or "somebody"
    finally:
        os.close(file)
    return ""


def has_journal(store: Store) -> bool:
    """Return whether an installation died here; one that is at work looks the same."""
    return store.disk.stat(store.at, JOURNAL) is not None


AGENT_LOCK = "agent.lock"
_SETTINGS = "/etc/gitcfg/agent.toml"
_WANTS = "/etc/systemd/system/multi-user.target.wants"
_UNITS = (f"{_WANTS}/gitcfg-agent.service", "/etc/systemd/system/timers.target.wants/gitcfg-agent.timer")


def make_hello(place: Place) -> dict[str, Any]:
    """As the near end's Hello. Refused, or an OSError, where the state folder is not to be had."""
    hello: dict[str, Any] = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "host": os.uname().nodename,
        "user": user_name(),
    }
    with view_store(place) as (store, there):
        hello["agent"] = _find_agent(store, there)
        if there:
            hello.update(_read_in_force(store))
    return hello


def _read_in_force(store: Store) -> dict[str, Any]:
    busy = lock_holder(store)
    found: dict[str, Any] = {"busy": busy, "interrupted": not busy and has_journal(store)}
    report = read_report(store)
    if report is not None:
        found["report"] = outcome_to_json(report)
    try:
        record = read_record_of(store, True)
    except Damaged as error:
        return {**found, "problem": error.message}
    except InstallError as error:
        return {**found, "problem": str(error)}
    package = record.package
    if record.owed:
        found["owed"] = list(debt_titles(record.owed))
    if package is not None and package.commit != UNKNOWN:
        found.update(commit=package.commit, digest=package.digest)
    return {**found, **(_read_decided(store) if found["interrupted"] else {})}


def _read_decided(store: Store) -> dict[str, Any]:
    """What an installation that died has decided on, though its record does not say so yet.

    The next one finishes that first, and begins from it: daemons have it already.
    """
    with suppress(InstallError):
        found = read_journal(store)
        if found is not None and found.end is not None and found.end.result == OK and found.commit != UNKNOWN:
            return {"commit": found.commit, "digest": found.digest}
    return {}


def _find_agent(store: Store, there: bool) -> str:
    """Whether an agent keeps this node: one runs where the kernel says that somebody has its lock."""
    if there and lock_holder(store, AGENT_LOCK):
        return "running"
    found = (_SETTINGS, *_UNITS)
    return "installed" if any(store.tree.read_state(path).kind != "absent" for path in found) else ""


def user_name() -> str:
    """Return the name of the user of this process."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
