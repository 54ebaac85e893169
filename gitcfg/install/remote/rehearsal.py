"""A dry run: what an installation would do here, compared with what stands, with nothing touched."""

from __future__ import annotations

import os

from ..disk import ABSENT, FILE, LINK
from ..drift import read_public, unified_diff
from ..errors import NoRoom, Refused
from ..installation import Installation
from ..journal import read_journal
from ..outcome import OK, REFUSED, REVERTED, UNCHANGED, Outcome, with_earlier
from ..owners import find_owners
from ..package import Actions, Package
from ..place import Place
from ..plan import Entry, Plan, names_by_action
from ..policy import Policy
from ..record import Record, debt_titles
from ..recovery import with_files
from ..store import Store
from .inspection import has_journal, read_record_of, view_store

_MOST = 1 << 20
"""Characters of all differences together: a person reads them."""
_NOT_SHOWN = "(not shown: not everybody may read the file)\n"
_OWED = "Owed since an installation could not be taken back"
_INTERRUPTED = "An installation was interrupted here, or is at work: what stands may be of it."


def rehearse(
    place: Place, package: Package, actions: Actions, policy: Policy
) -> tuple[Outcome, dict[str, str]]:
    """The outcome, and by path what would change: from what stands to what is meant."""
    begun = Outcome(OK, package.commit, package.digest)
    with view_store(place) as (store, there):
        try:
            record = read_record_of(store, there)
            undone = _find_undone(store) if there else None
            installing = Installation(place, package, actions, policy)
            plan = installing.make_plan(store, record, find_owners(package, record.package))
        except NoRoom:
            raise
        except Refused as error:
            return begun._replace(result=REFUSED, step="prepare", output=str(error)), {}
        lines = [_INTERRUPTED] if there and has_journal(store) else []
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
    """What would be done first: to take back an installation that died; None: there is none."""
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
        lines.append(f"a link to {before.target} stands there\n")
    if before.kind == FILE == after.kind:
        if before.mode != after.mode:
            lines.append(f"mode {before.mode:04o} -> {after.mode:04o}\n")
        if (before.uid, before.gid) != (after.uid, after.gid):
            lines.append(f"owner {before.uid}:{before.gid} -> {after.uid}:{after.gid}\n")
    if before.digest != after.digest:
        lines.append(_content(store, place, entry, package, record))
    return "".join(lines)


def _content(store: Store, place: Place, entry: Entry, package: Package, record: Record) -> str:
    """Neither of a file that is not everybody's as it stands nor of one that will not be."""
    before, after = entry.before, entry.after
    known = [found for one in (record.package, package) if one and (found := one.meant.get(entry.path))]
    if any(file.secret for file in known) or (before.kind == FILE and not before.mode & 0o004):
        verb = "goes" if after.kind == ABSENT else "is new" if before.kind == ABSENT else "differs"
        return f"the content {verb} {_NOT_SHOWN}"
    if max(before.size, after.size) > _MOST:
        return f"the content differs ({before.size} bytes stand, {after.size} are meant)\n"
    old = read_public(store, entry.path, _MOST) if before.kind == FILE else b""
    if old is None:
        return f"the content differs {_NOT_SHOWN}"
    new = package.files[entry.path].content if after.kind == FILE else b""
    return _content_diff(entry, old, new, place.limits.diff)


def _content_diff(entry: Entry, old: bytes, new: bytes, most: int) -> str:
    sizes = f"({len(old)} bytes stand, {len(new)} are meant)\n"
    try:
        texts = (old.decode(), new.decode())
    except UnicodeDecodeError:
        texts = ("\0", "")
    if "\0" in "".join(texts):
        return f"the content differs {sizes}"
    names = (
        os.devnull if entry.before.kind == ABSENT else f"{entry.path} (stands)",
        os.devnull if entry.after.kind == ABSENT else f"{entry.path} (meant)",
    )
    return unified_diff(*texts, names, most) if old or new else "an empty file\n"
