"""The rollback: finish what was decided, or restore files and their subsystems. All of it is repeatable."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from .activation import recheck_step, undo_step
from .commands import kill_orphan
from .disk import ABSENT, FILE, LINK, FileState, read_state
from .journal import Journal, JournalState, read_journal
from .outcome import FAILED, OK, REVERTED, Damaged, InstallError, Obstacle, Outcome, outcome_to_json
from .package import Package
from .plan import RESTART, STOP, Debt, Entry, Plan, Step, names_by_action
from .policy import folders_of, name_of, parent_of
from .record import (
    INSTALLED,
    NEXT,
    debt_titles,
    read_owed,
    read_record,
    settle_debts,
    write_owed,
    write_record,
    write_report,
)
from .staging import (
    collect_redaction,
    copy,
    keep_backups,
    new_name,
    old_name,
    prune,
    remove_beside,
    set_aside,
)
from .store import BACKUP, FRESH, JOURNAL, STAGED, Place, Store


def finish(store: Store, place: Place, state: JournalState, outcome: Outcome) -> Outcome:
    """Record and report what was decided, and clean up; the next run repeats what fails here."""
    try:
        store.remove(STAGED)  # before everything that a full disk may prevent
        if outcome.result == OK and state.plan is not None:
            remove_beside(store, state.plan, state.key, old_name)
            keep_backups(store, state.plan, outcome.kept)
            _record(store, outcome)
        prune(store, place.limits.kept)
        keep_report(store, outcome)
        tidy(store)
        Journal(store).clear()
    except OSError as error:
        why = f"Cannot clean up: {error.strerror}. The next run tries again."
        return outcome._replace(output="\n".join(part for part in (outcome.output, why) if part))
    return outcome


def tidy(store: Store) -> None:
    """Remove what an installation needs only while it runs."""
    for name in (STAGED, BACKUP, NEXT, NEXT + FRESH):
        store.remove(name)


def _record(store: Store, outcome: Outcome) -> None:
    """Write the record: the package first, which needs no room, then without folders that are now empty."""
    if store.has(NEXT):
        store.disk.rename(store.at, NEXT, store.at, INSTALLED)
        store.disk.sync(store.at)
    record = read_record(store)
    if record is None or record.package is None:
        return
    settle_debts(store, record.package, outcome)
    needed = {folder for path in record.package.meant for folder in folders_of(path)}
    removed = {
        folder
        for folder in sorted(record.folders, reverse=True)
        if folder not in needed and store.tree.remove_if_empty(folder)
    }
    if removed:
        folders = [folder for folder in record.folders if folder not in removed]
        write_record(store, INSTALLED, record.package, folders)


def keep_report(store: Store, outcome: Outcome) -> Outcome:
    """Save the report if the disk has room for it, and return the outcome."""
    with suppress(OSError):
        write_report(store, outcome)
    return outcome


# Restoring files.


def restore(store: Store, place: Place, plan: Plan, key: str) -> tuple[str, ...]:
    """Restore all files; return where files that others wrote in the meantime are kept.

    After a crash in this function, it can be repeated.
    """
    remove_beside(store, plan, key, new_name)
    aside = []
    for number, entry in enumerate(plan.entries):
        stands = store.tree.read_state(entry.path)
        if stands != entry.before and not _was_put_back(store, entry, number, stands):
            aside += _set_foreign_aside(store, place, entry, stands)
            _put_back(store, entry, key, number)
    remove_beside(store, plan, key, old_name)
    for folder in reversed(plan.folders):
        store.tree.remove_if_empty(folder)
    store.tree.sync(parent_of(entry.path) for entry in plan.entries)
    return tuple(aside)


def _was_put_back(store: Store, entry: Entry, number: int, stands: FileState) -> bool:
    """Return whether an interrupted rollback restored a file that was changed since: the change stays.

    Restoring removes the backup (except one from another file system). If our new file has no backup, someone
    removed it: the rollback then fails, and reports that.
    """
    if entry.before.kind == ABSENT or stands == entry.after:
        return False
    with store.folder(BACKUP) as backup:
        return store.disk.stat(backup, str(number)) is None


def _set_foreign_aside(store: Store, place: Place, entry: Entry, stands: FileState) -> list[str]:
    """Keep content that is neither the old nor the new; skip that if the disk has no room for it."""
    known = (entry.before.digest, entry.after.digest)
    if stands.kind == LINK or (stands.kind == FILE and stands.digest not in known):
        with suppress(OSError):
            return [set_aside(store, place, entry.path, stands)]
    return []


def _put_back(store: Store, entry: Entry, key: str, number: int) -> None:
    name = name_of(entry.path)
    with store.tree.folder(parent_of(entry.path)) as at:
        if entry.before.kind == ABSENT:
            store.disk.unlink(at, name)
            return
        with store.folder(BACKUP) as backup:
            try:
                store.disk.rename(backup, str(number), at, name)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # From another file system: with the second name that the file has here, else as a copy, which
                # needs room.
                source = old_name(key, number)
                if read_state(store.disk, at, source) != entry.before:
                    source = new_name(key, number)
                    copy(store.disk, (backup, str(number)), (at, source), entry.before)
                store.disk.rename(at, source, at, name)


def with_files(outcome: Outcome, store: Store, plan: Plan | None) -> Outcome:
    """Return an outcome with the files that the rollback will write and remove."""
    entries = [one for one in plan.entries if not _is_restored(store, one)] if plan is not None else []
    return outcome._replace(
        changed=tuple(entry.path for entry in entries if entry.before.kind != ABSENT),
        removed=tuple(entry.path for entry in entries if entry.before.kind == ABSENT),
    )


def _is_restored(store: Store, entry: Entry) -> bool:
    try:
        return store.tree.read_state(entry.path) == entry.before
    except (OSError, Obstacle):
        return False


# Debts: what a rollback could not do, and earlier debts that it did not clear.


def only_pays_debts(store: Store, state: JournalState) -> bool:
    """Return whether the installation only cleared debts: then there is nothing to undo."""
    with suppress(InstallError, OSError):
        record = read_record(store)
        known = record.package if record else None
        return known is not None and known.digest == state.digest and not (state.plan and state.plan.entries)
    return False


def take_back_step(store: Store, place: Place, state: JournalState, number: int) -> tuple[bool, str]:
    """Return whether the subsystem of a step uses the restored files, and its output if not.

    If the installation only cleared debts, a successful step is not repeated because another one failed: its
    checks decide.
    """
    assert state.plan is not None
    step, journal = state.plan.steps[number], Journal(store)
    if not only_pays_debts(store, state):
        return undo_step(journal, place, step)
    return recheck_step(journal, place, step) if number in state.ran else (False, "")


def record_debts(store: Store, state: JournalState) -> None:
    """Record what is pending now, before the end is reported. Raise OSError if that fails.

    A damaged list stays so: its next reader causes a new installation of everything.
    """
    assert state.plan is not None
    undone = [(state.plan.steps[number], well) for number, (well, _) in sorted(state.undone.items())]
    with suppress(Damaged):
        before = read_owed(store)
        after = remaining_debts(before, undone)
        try:
            write_owed(store, after)
        except OSError:
            if not set(after) <= set(before):
                raise  # a cleared debt may be cleared once more


def is_still_owing(store: Store, state: JournalState) -> bool:
    """Return whether the installation only cleared debts, and some remain."""
    with suppress(Damaged, OSError):
        return only_pays_debts(store, state) and any(one.kind != STOP for one in read_owed(store))
    return True


def remaining_debts(before: Iterable[Debt], undone: Iterable[tuple[Step, bool]]) -> tuple[Debt, ...]:
    """Return the actions that are pending after a rollback. Pure."""
    found = {one.name: one for one in before}
    for step, well in undone:
        # A stop does not undo the additional restarts that a restart caused.
        stops = any(one.kind == STOP for one in step.undo.owes)
        for one in step.undo.owes:
            if well and step.undo.commands and (one.name == step.name or not stops):
                found.pop(one.name, None)
            elif not (one.name in found and found[one.name].kind == RESTART and one.kind != STOP):
                found[one.name] = one
    return tuple(found.values())


# The rollback: the old files are restored, and subsystems that used the new ones are activated again.


def roll_back(store: Store, place: Place, state: JournalState, failure: Outcome) -> Outcome:
    """Undo what the journal has; `failure` is the reason. A crash in this function can be repeated.

    Lines may be missing in the journal (the disk is full): then the same is done once more.
    """
    journal = Journal(store)
    _note(journal, {"undo": outcome_to_json(failure)})
    if state.plan is None:
        return _end(store, place, state, failure._replace(result=REVERTED))
    if state.back is None:
        problem = _put_files_back(store, place, state)
        if problem:
            # The journal stays, so that the next run tries again.
            unrestored = [entry.path for entry in state.plan.entries if not _is_restored(store, entry)]
            paths = ", ".join(unrestored) or "none"
            message = f"The rollback failed: {problem}. Not restored: {paths}. Every run tries again."
            output = f"{failure.output}\n{message}"
            return failure._replace(result=FAILED, output=output, **_find_begun(state))
        _note(journal, {"back": state.back})
    for number in state.begun:
        if number not in state.undone:
            state.undone[number] = take_back_step(store, place, state, number)
            _note(journal, {"undid": [number, *state.undone[number]]})
    outcome = _judge(state, failure)
    try:
        record_debts(store, state)
    except OSError as error:
        message = f"Cannot record pending actions on the disk: {error.strerror}. Every run tries again."
        return outcome._replace(result=FAILED, output=f"{outcome.output}\n{message}")
    return _end(store, place, state, outcome)


def _put_files_back(store: Store, place: Place, state: JournalState) -> str:
    """Return why files cannot be restored, or "". The staged files are removed first, to free space."""
    assert state.plan is not None
    place.listener.notify("put back", "begun")
    try:
        with suppress(OSError):
            store.remove(STAGED)
        state.back = restore(store, place, state.plan, state.key)
    except (OSError, Obstacle) as error:
        place.listener.notify("put back", "failed")
        return str(error)
    place.listener.notify("put back", "done")
    return ""


def _judge(state: JournalState, failure: Outcome) -> Outcome:
    assert state.plan is not None
    undone = [(state.plan.steps[number], well, text) for number, (well, text) in sorted(state.undone.items())]
    bad = [
        text or f"{step.title} is pending." for step, well, text in undone if not well and step.undo.required
    ]
    lines = [failure.output, *(text for _, _, text in undone if text and text not in bad)]
    kept = (*state.aside, *(state.back or ()))
    if kept:
        lines.append("Files that others changed in the meantime are kept.")
    if bad:
        lines += ["All files are restored, but some subsystems did not activate them:", *bad]
    optional = [step for step, well, _ in undone if not well and not step.undo.required]
    owed = debt_titles(debt for step in optional for debt in step.undo.owes)
    if owed:
        lines.append(f"Pending until the next installation: {', '.join(owed)}.")
    output = "\n".join(part for part in lines if part)
    return failure._replace(
        result=FAILED if bad else REVERTED, output=output, kept=kept, **_find_begun(state)
    )


def _find_begun(state: JournalState) -> dict[str, Any]:
    assert state.plan is not None
    return names_by_action(tuple(state.plan.steps[number] for number in state.begun))


def _end(store: Store, place: Place, state: JournalState, outcome: Outcome) -> Outcome:
    """End a rollback. A node that is not as it was is not `reverted`, even if no step began."""
    if is_still_owing(store, state):
        outcome = outcome._replace(result=FAILED)
    _note(Journal(store), {"end": outcome_to_json(outcome)})
    return finish(store, place, state, outcome)


def _note(journal: Journal, line: Mapping[str, Any]) -> None:
    with suppress(OSError):
        journal.add(line)


# After an interruption: finish what was decided, roll back everything else.


def recover_interrupted(store: Store, place: Place) -> Outcome | None:
    """Finish or roll back an interrupted installation; return its outcome, None if there was none.

    A command that was running at the crash is killed: its progress is unknown, and the rollback activates its
    subsystem again. The outcome of a rollback names the files that it wrote.
    """
    with suppress(OSError):
        # First, and even if the journal cannot be read: nothing needs these files, and they may hold secrets.
        store.remove(STAGED)
    state = read_journal(store)
    if state is None:
        # The installation crashed before the journal had a line, or after it was cleared.
        if store.has(STAGED) or store.has(BACKUP):
            tidy(store)
        if store.has(JOURNAL):
            Journal(store).clear()
        return None
    Journal(store).mend()
    if state.end is not None:
        return finish(store, place, state, state.end)
    kill_orphan(state.process)
    hiding = place._replace(redaction=collect_redaction(store, _packages(store), state.plan))
    failure = with_files(state.undo or _interrupted_outcome(state), store, state.plan)
    return roll_back(store, hiding, state, failure)


def _packages(store: Store) -> Iterator[Package | None]:
    """Yield the installed and the new package; an unreadable record does not prevent a rollback."""
    for name in (INSTALLED, NEXT):
        with suppress(InstallError, OSError):
            record = read_record(store, name)
            yield record.package if record else None


def _interrupted_outcome(state: JournalState) -> Outcome:
    step = None
    if state.plan is not None and state.begun and state.begun[-1] not in state.ran:
        step = state.plan.steps[state.begun[-1]]
    where = f" in `{step.title}`" if step else ""
    return Outcome(
        result=REVERTED,
        commit=state.commit,
        digest=state.digest,
        step=step.title if step else "interrupted",
        command=step.command if step else (),
        output=f"The installation was interrupted{where}.",
    )
