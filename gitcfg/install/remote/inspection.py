"""The inspection of a node, with nothing touched: the far end's first message, and the dry run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..disk import ABSENT, FILE, LINK, Tree, find_owners
from ..drift import read_public, unified_diff
from ..installation import Installation
from ..journal import read_journal
from ..outcome import (
    OK,
    REFUSED,
    REVERTED,
    UNCHANGED,
    Damaged,
    InstallError,
    NoRoom,
    Outcome,
    Refused,
    outcome_to_json,
    with_earlier,
)
from ..package import Actions, Package
from ..plan import Entry, Plan, names_by_action
from ..policy import Policy, parent_of
from ..record import UNKNOWN, Record, debt_titles, read_in_force, read_report
from ..recovery import with_files
from ..store import JOURNAL, LOCK, Place, Store, open_store


@contextmanager
def view_store(place: Place) -> Iterator[tuple[Store, bool]]:
    """Yield the store, and whether it exists. If not, its folder is the nearest one that exists.

    Raise Refused in the same cases as `open_store`.
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


def lock_holder(store: Store, name: str = LOCK) -> str:
    """Return the holder of a lock, or ""."""
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


AGENT_LOCK = "agent.lock"
_SETTINGS = "/etc/gitcfg/agent.toml"
_WANTS = "/etc/systemd/system/multi-user.target.wants"
_UNITS = (f"{_WANTS}/gitcfg-agent.service", "/etc/systemd/system/timers.target.wants/gitcfg-agent.timer")


def make_hello(place: Place) -> dict[str, Any]:
    """Return the fields of Hello. Raise Refused or OSError if the state folder cannot be opened."""
    hello: dict[str, Any] = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "host": os.uname().nodename,
        "user": user_name(),
    }
    with view_store(place) as (store, exists):
        hello["agent"] = _find_agent(store, exists)
        if exists:
            hello.update(_read_in_force(store))
    return hello


def _read_in_force(store: Store) -> dict[str, Any]:
    busy = lock_holder(store)
    found: dict[str, Any] = {"busy": busy, "interrupted": not busy and store.has(JOURNAL)}
    report = read_report(store)
    if report is not None:
        found["report"] = outcome_to_json(report)
    try:
        record = read_in_force(store)
    except InstallError as error:
        return {**found, "problem": error.message if isinstance(error, Damaged) else str(error)}
    package = record.package
    if record.owed:
        found["owed"] = list(debt_titles(record.owed))
    if package is not None and package.commit != UNKNOWN:
        found.update(commit=package.commit, digest=package.digest)
    return {**found, **(_read_decided(store) if found["interrupted"] else {})}


def _read_decided(store: Store) -> dict[str, Any]:
    """Return what an interrupted installation has decided, even if its record does not have it yet.

    The next one finishes that first, and starts from there: daemons already use those files.
    """
    with suppress(InstallError):
        found = read_journal(store)
        if found is not None and found.end is not None and found.end.result == OK and found.commit != UNKNOWN:
            return {"commit": found.commit, "digest": found.digest}
    return {}


def _find_agent(store: Store, exists: bool) -> str:
    """Return whether an agent manages this node. It is running if a process holds its lock."""
    if exists and lock_holder(store, AGENT_LOCK):
        return "running"
    installed = any(store.tree.read_state(path).kind != ABSENT for path in (_SETTINGS, *_UNITS))
    return "installed" if installed else ""


def user_name() -> str:
    """Return the name of the user of this process."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


# A dry run: what an installation would do here, compared with the present files, with nothing touched.

_MOST = 1 << 20
"""The limit of all differences together, in characters: a person reads them."""
_NOT_SHOWN = "(not shown: the file is not world-readable)\n"
_OWED = "Pending since an installation could not be rolled back"
_INTERRUPTED = "An installation was interrupted or is still running here: the files may be its own."


def rehearse(
    place: Place, package: Package, actions: Actions, policy: Policy
) -> tuple[Outcome, dict[str, str]]:
    """Return the outcome, and the differences by path, from the present to the intended files."""
    begun = Outcome(OK, package.commit, package.digest)
    with view_store(place) as (store, exists):
        try:
            record = read_in_force(store) if exists else Record()
            undone = _find_undone(store) if exists else None
            installing = Installation(place, package, actions, policy)
            plan = installing.make_plan(store, record, find_owners(package, record.package))
        except NoRoom:
            raise
        except Refused as error:
            return begun._replace(result=REFUSED, step="prepare", output=str(error)), {}
        lines = [_INTERRUPTED] if exists and store.has(JOURNAL) else []
        if record.owed and not plan.idle:
            lines.append(f"{_OWED}: {', '.join(debt_titles(record.owed))}.")
        found = begun._replace(
            output="\n".join(lines), changed=plan.changed, removed=plan.removed, **names_by_action(plan.steps)
        )
        if undone is not None:
            found = with_earlier(found, undone)
        result = UNCHANGED if plan.idle and undone is None else OK
        return found._replace(result=result), _differences(store, place, plan, package, record)


def _find_undone(store: Store) -> Outcome | None:
    """Return what the rollback of an interrupted installation would do first; None if there is none."""
    found = read_journal(store)
    if found is None:
        return None
    if found.end is not None:
        return found.end if found.end.result == REVERTED else None
    steps = tuple(found.plan.steps[number] for number in found.begun) if found.plan is not None else ()
    outcome = Outcome(REVERTED, found.commit, found.digest)._replace(**names_by_action(steps))
    return with_files(outcome, store, found.plan)


def _differences(store: Store, place: Place, plan: Plan, package: Package, record: Record) -> dict[str, str]:
    found: dict[str, str] = {}
    room = _MOST
    for entry in plan.entries:
        text = _difference(store, place, entry, package, record)
        found[entry.path] = text if len(text) <= room else "(too much to show)\n"
        room -= len(found[entry.path])
    return found


def _difference(store: Store, place: Place, entry: Entry, package: Package, record: Record) -> str:
    before, after = entry.before, entry.after
    lines = []
    if before.kind == LINK:
        lines.append(f"a link to {before.target}\n")
    if before.kind == FILE == after.kind:
        if before.mode != after.mode:
            lines.append(f"mode {before.mode:04o} -> {after.mode:04o}\n")
        if (before.uid, before.gid) != (after.uid, after.gid):
            lines.append(f"owner {before.uid}:{before.gid} -> {after.uid}:{after.gid}\n")
    if before.digest != after.digest:
        lines.append(_content(store, place, entry, package, record))
    return "".join(lines)


def _content(store: Store, place: Place, entry: Entry, package: Package, record: Record) -> str:
    """Return the difference in content; hide it if the old or the new file is not world-readable."""
    before, after = entry.before, entry.after
    known = [found for one in (record.package, package) if one and (found := one.meant.get(entry.path))]
    if any(file.secret for file in known) or (before.kind == FILE and not before.mode & 0o004):
        verb = "is removed" if after.kind == ABSENT else "is new" if before.kind == ABSENT else "differs"
        return f"the content {verb} {_NOT_SHOWN}"
    if max(before.size, after.size) > _MOST:
        return f"the content differs (from {before.size} to {after.size} bytes)\n"
    old = read_public(store, entry.path, _MOST) if before.kind == FILE else b""
    if old is None:
        return f"the content differs {_NOT_SHOWN}"
    new = package.files[entry.path].content if after.kind == FILE else b""
    return _content_diff(entry, old, new, place.limits.diff)


def _content_diff(entry: Entry, old: bytes, new: bytes, most: int) -> str:
    sizes = f"(from {len(old)} to {len(new)} bytes)\n"
    try:
        texts = (old.decode(), new.decode())
    except UnicodeDecodeError:
        texts = ("\0", "")
    if "\0" in "".join(texts):
        return f"the content differs {sizes}"
    names = (
        os.devnull if entry.before.kind == ABSENT else f"{entry.path} (on disk)",
        os.devnull if entry.after.kind == ABSENT else f"{entry.path} (new)",
    )
    return unified_diff(*texts, names, most) if old or new else "an empty file\n"
