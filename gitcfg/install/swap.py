"""The files on the way forward: backed up, written beside their targets, exchanged by renaming.

After a loss of power the disk may hold any part of what was not synced, in any order. So: the backup, with
its own name in the state folder, is on the disk before the journal has the plan; every new file before
anything is renamed; and the renamings before the journal says what comes next.
"""

from __future__ import annotations

from .beside import former, fresh, hold
from .contents import put
from .kept import set_aside
from .package import Package
from .paths import name_of, parent_of
from .place import Place
from .plan import Plan
from .problems import StepFailed
from .saving import save
from .standing import ABSENT, FILE, LINK, look
from .store import BACKUP, Store
from .unshown import kept_content

_STEP = "swap files"


def back_up(store: Store, plan: Plan) -> None:
    """What stands, under numbers in backup/."""
    store.empty(BACKUP)
    with store.folder(BACKUP) as backup:
        for number, entry in enumerate(plan.entries):
            if entry.before.kind != ABSENT:
                save(store, entry.path, entry.before, (backup, str(number)))
                if look(store.disk, backup, str(number)) != entry.before:
                    raise StepFailed("back up", f"{entry.path} was changed by somebody else in this moment.")
        store.disk.sync(backup)
    store.disk.sync(store.at)


def prepare(store: Store, plan: Plan, package: Package, key: str) -> None:
    """Make the folders, and write every new file beside its target: the last moment for a full disk."""
    for folder in plan.folders:
        store.tree.make(folder)
    for number, entry in enumerate(plan.entries):
        with store.tree.folder(parent_of(entry.path)) as at:
            if entry.before.kind != ABSENT:
                hold(store, at, entry, former(key, number))
            if entry.after.kind == FILE:
                owner = (entry.after.uid, entry.after.gid)
                content = kept_content(store, package.files[entry.path])
                put(store.disk, at, fresh(key, number), content, owner, entry.after.mode)


def exchange(store: Store, place: Place, plan: Plan, key: str) -> tuple[str, ...]:
    """Rename every new file to its target and remove what goes; then make that last.

    Since they were backed up, a command may have run for minutes: what somebody wrote meanwhile is set aside,
    and the paths of that are returned.
    """
    place.listener.told(_STEP, "begun")
    aside = []
    for number, entry in enumerate(plan.entries):
        with store.tree.folder(parent_of(entry.path)) as at:
            stands = look(store.disk, at, name_of(entry.path))
            if stands not in (entry.before, entry.after):
                if stands.kind not in (FILE, LINK, ABSENT):
                    raise StepFailed(_STEP, f"A {stands.kind} stands at {entry.path} since a moment ago.")
                if stands.kind != ABSENT:
                    aside.append(set_aside(store, place, entry.path, stands))
            if entry.after.kind == FILE:
                store.disk.rename(at, fresh(key, number), at, name_of(entry.path))
            else:
                store.disk.unlink(at, name_of(entry.path))
    store.tree.sync(parent_of(entry.path) for entry in plan.entries)
    place.listener.told(_STEP, "done")
    return tuple(aside)
