"""The way back: finish what was decided, or restore files and their subsystems. All may be done again."""

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
    Record,
    read_owed,
    read_record,
    settle_debts,
    write_owed,
    write_record,
    write_report,
)
from .staging import (
    Where,
    collect_redaction,
    copy,
    keep_backups,
    new_name,
    old_name,
    prune,
    remove_beside,
    set_aside,
)
from .store import BACKUP, FRESH, STAGED, Place, Store


def finish(store: Store, place: Place, found: JournalState, outcome: Outcome) -> Outcome:
    """Record and report what was decided, and tidy up. What cannot be is left to the next run, and said."""
    try:
        store.remove(STAGED)  # before all that a full disk may keep from being done
        if outcome.result == OK and found.plan is not None:
            remove_beside(store, found.plan, found.key, old_name)
            keep_backups(store, found.plan, outcome.kept)
            _record(store, outcome)
        prune(store, place.limits.kept)
        keep_report(store, outcome)
        tidy(store)
        Journal(store).clear()
    except OSError as error:
        why = f"Tidying up failed ({error.strerror}); the next run does it."
        return outcome._replace(output="\n".join(part for part in (outcome.output, why) if part))
    return outcome


def tidy(store: Store) -> None:
    """Remove what an installation needs while it runs."""
    for name in (STAGED, BACKUP, NEXT, NEXT + FRESH):
        store.remove(name)


def _record(store: Store, outcome: Outcome) -> None:
    """The package first, which needs no room; then without the folders that are empty now and go."""
    if store.disk.stat(store.at, NEXT) is not None:
        store.disk.rename(store.at, NEXT, store.at, INSTALLED)
        store.disk.sync(store.at)
    found = read_record(store)
    if found is None or found.package is None:
        return
    settle_debts(store, found.package, outcome)
    remaining = _without_empty_folders(store, found)
    if remaining != found.folders:
        write_record(store, INSTALLED, found.package, remaining)


def _without_empty_folders(store: Store, found: Record) -> tuple[str, ...]:
    files = found.package.meant if found.package else {}
    needed = {folder for path in files for folder in folders_of(path)}
    gone = {
        folder
        for folder in sorted(found.folders, reverse=True)
        if folder not in needed and store.tree.remove_if_empty(folder)
    }
    return tuple(folder for folder in found.folders if folder not in gone)


def keep_report(store: Store, outcome: Outcome) -> Outcome:
    """Keep the report if the disk has room for it, and return the outcome."""
    with suppress(OSError):
        write_report(store, outcome)
    return outcome


# Restoring files.


def restore(store: Store, place: Place, plan: Plan, key: str) -> tuple[str, ...]:
    """Restore everything as it stood; return where files that somebody wrote meanwhile are kept.

    May be done again after dying in it.
    """
    remove_beside(store, plan, key, new_name)
    aside = []
    for number, entry in enumerate(plan.entries):
        stands = store.tree.read_state(entry.path)
        if stands != entry.before and not _was_put_back(store, entry, number, stands):
            aside += _set_aside(store, place, entry, stands)
            _put_back(store, entry, key, number)
    remove_beside(store, plan, key, old_name)
    for folder in reversed(plan.folders):
        store.tree.remove_if_empty(folder)
    store.tree.sync(parent_of(entry.path) for entry in plan.entries)
    return tuple(aside)


def _was_put_back(store: Store, entry: Entry, number: int, stands: FileState) -> bool:
    """Return whether a way back that died had put it back, and somebody has written there since: that stays.

    Putting back takes the backup away (another file system's aside). Where our new file stands without a
    backup, somebody removed that: going back then fails, and says so.
    """
    if entry.before.kind == ABSENT or stands == entry.after:
        return False
    with store.folder(BACKUP) as backup:
        return store.disk.stat(backup, str(number)) is None


def _set_aside(store: Store, place: Place, entry: Entry, stands: FileState) -> list[str]:
    """What is neither the old content nor the new; going back comes first if the disk has no room for it."""
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
                _put_back_from_elsewhere(store, entry, (backup, str(number)), at, key, number)


def _put_back_from_elsewhere(
    store: Store, entry: Entry, saved: Where, at: int, key: str, number: int
) -> None:
    """From another file system: by the second name that it has here, else as a copy, which needs room."""
    source = old_name(key, number)
    if read_state(store.disk, at, source) != entry.before:
        source = new_name(key, number)
        copy(store.disk, saved, (at, source), entry.before)
    store.disk.rename(at, source, at, name_of(entry.path))


def find_unrestored(store: Store, plan: Plan) -> tuple[str, ...]:
    """Return the paths that are not restored."""
    return tuple(entry.path for entry in plan.entries if not _is_restored(store, entry))


def with_files(outcome: Outcome, store: Store, plan: Plan | None) -> Outcome:
    """Return an outcome with the files that restoring will write and remove."""
    paths = set(find_unrestored(store, plan)) if plan is not None else set()
    some = [entry for entry in plan.entries if entry.path in paths] if plan is not None else []
    return outcome._replace(
        changed=tuple(entry.path for entry in some if entry.before.kind != ABSENT),
        removed=tuple(entry.path for entry in some if entry.before.kind == ABSENT),
    )


def _is_restored(store: Store, entry: Entry) -> bool:
    try:
        return store.tree.read_state(entry.path) == entry.before
    except (OSError, Obstacle):
        return False


# Debts: what a way back could not do, beside what was owed before and it did not do.


def only_pays_debts(store: Store, found: JournalState) -> bool:
    """Return whether only debts were to be paid: then nothing is to be undone."""
    with suppress(InstallError, OSError):
        record = read_record(store)
        known = record.package if record else None
        return known is not None and known.digest == found.digest and not (found.plan and found.plan.entries)
    return False


def take_back_step(store: Store, place: Place, found: JournalState, number: int) -> tuple[bool, str]:
    """Return whether the subsystem of a step has the files that stand now, and its output if not.

    Of what only was owed, a step that ended well is not run once more for the sake of another that did not:
    its checks tell.
    """
    assert found.plan is not None
    step, journal = found.plan.steps[number], Journal(store)
    if not only_pays_debts(store, found):
        return undo_step(journal, place, step)
    return recheck_step(journal, place, step) if number in found.ran else (False, "")


def record_debts(store: Store, found: JournalState) -> None:
    """Record what is owed now, before the end is reported. OSError: it cannot be recorded.

    A note that is damaged stays so: whoever reads it next has everything installed anew.
    """
    assert found.plan is not None
    undone = [(found.plan.steps[number], well) for number, (well, _) in sorted(found.undone.items())]
    with suppress(Damaged):
        before = read_owed(store)
        after = remaining_debts(before, undone)
        try:
            write_owed(store, after)
        except OSError:
            if not set(after) <= set(before):
                raise  # what was paid may be paid once more


def is_still_owing(store: Store, found: JournalState) -> bool:
    """Return whether only debts were to be paid, and are not."""
    with suppress(Damaged, OSError):
        return only_pays_debts(store, found) and any(one.kind != STOP for one in read_owed(store))
    return True


def remaining_debts(before: Iterable[Debt], undone: Iterable[tuple[Step, bool]]) -> tuple[Debt, ...]:
    """Return the activations that are owed after a rollback. Pure."""
    found = {one.name: one for one in before}
    for step, well in undone:
        for one in step.undo.owes:
            if _is_paid(step, one, well):
                found.pop(one.name, None)
            elif not (one.name in found and found[one.name].kind == RESTART and one.kind != STOP):
                found[one.name] = one
    return tuple(found.values())


def _is_paid(step: Step, one: Debt, well: bool) -> bool:
    """Return what a restart restarted beside what it was for is not brought back by stopping that."""
    if not (well and step.undo.commands):
        return False
    return one.name == step.name or all(other.kind != STOP for other in step.undo.owes)


# Rolling back: the old files, and the subsystems that took the new ones take the old ones again.


def roll_back(store: Store, place: Place, found: JournalState, failure: Outcome) -> Outcome:
    """Undo what the journal tells; `failure` is why. May be done again after dying anywhere in it.

    Its lines in the journal may be missing (the disk is full): without them the same is done once more.
    """
    journal = Journal(store)
    _note(journal, {"undo": outcome_to_json(failure)})
    if found.plan is None:
        return _end(store, place, found, failure._replace(result=REVERTED))
    if found.back is None:
        problem = _put_files_back(store, place, found)
        if problem:
            return _report_stuck(store, found, failure, problem)
        _note(journal, {"back": found.back})
    for number in found.begun:
        if number not in found.undone:
            found.undone[number] = take_back_step(store, place, found, number)
            _note(journal, {"undid": [number, *found.undone[number]]})
    outcome = _judge(found, failure)
    try:
        record_debts(store, found)
    except OSError as error:
        message = f"What is still owed cannot be kept on the disk: {error.strerror}. Every run tries again."
        return outcome._replace(result=FAILED, output=f"{outcome.output}\n{message}")
    return _end(store, place, found, outcome)


def _put_files_back(store: Store, place: Place, found: JournalState) -> str:
    """Return what kept files from going back, or nothing. The staged files go first: they give room."""
    assert found.plan is not None
    place.listener.notify("put back", "begun")
    try:
        with suppress(OSError):
            store.remove(STAGED)
        found.back = restore(store, place, found.plan, found.key)
    except (OSError, Obstacle) as error:
        place.listener.notify("put back", "failed")
        return str(error)
    place.listener.notify("put back", "done")
    return ""


def _report_stuck(store: Store, found: JournalState, failure: Outcome, problem: str) -> Outcome:
    """Return the outcome of a rollback that failed. The journal stays, so that the next run tries again."""
    assert found.plan is not None
    paths = ", ".join(find_unrestored(store, found.plan)) or "none"
    message = f"Going back failed: {problem}. Not as before: {paths}. Every run tries again."
    return failure._replace(result=FAILED, output=f"{failure.output}\n{message}", **_activated(found))


def _judge(found: JournalState, failure: Outcome) -> Outcome:
    assert found.plan is not None
    undone = [(found.plan.steps[number], well, text) for number, (well, text) in sorted(found.undone.items())]
    bad = [text or f"{step.title} is owed." for step, well, text in undone if not well and step.undo.required]
    rest = [text for step, well, text in undone if text and text not in bad]
    lines = [failure.output, *rest]
    kept = (*found.aside, *(found.back or ()))
    if kept:
        lines.append("What somebody else wrote meanwhile is kept.")
    if bad:
        lines += ["All files are as before, but not every subsystem took them:", *bad]
    loose = [step for step, well, _ in undone if not well and not step.undo.required and step.undo.owes]
    if loose:
        titles = ", ".join(f"{one.kind} {one.name}" for step in loose for one in step.undo.owes)
        lines.append(f"Owed since then, and tried again by the next installation: {titles}.")
    output = "\n".join(part for part in lines if part)
    return failure._replace(result=FAILED if bad else REVERTED, output=output, kept=kept, **_activated(found))


def _activated(found: JournalState) -> dict[str, Any]:
    """Return what was begun, as an outcome has it."""
    assert found.plan is not None
    return names_by_action(tuple(found.plan.steps[number] for number in found.begun))


def _end(store: Store, place: Place, found: JournalState, outcome: Outcome) -> Outcome:
    """Return what is not as it was is not `reverted`, also if nothing was begun."""
    if is_still_owing(store, found):
        outcome = outcome._replace(result=FAILED)
    _note(Journal(store), {"end": outcome_to_json(outcome)})
    return finish(store, place, found, outcome)


def _note(journal: Journal, line: Mapping[str, Any]) -> None:
    with suppress(OSError):
        journal.add(line)


# After an interruption: finish what was decided, roll back everything else.


def recover_interrupted(store: Store, place: Place) -> Outcome | None:
    """Finish or roll back an interrupted installation; return its outcome, None if there was none.

    A command that was running when its installation died is killed: nobody knows how far it came, and the way
    back activates its subsystem anew. One that was taken back tells which files were written for that.
    """
    with suppress(OSError):
        # First, and also where the journal cannot be read: nothing needs it, and it may hold secrets.
        store.remove(STAGED)
    found = read_journal(store)
    if found is None:
        _remove_leftovers(store)
        return None
    Journal(store).mend()
    if found.end is not None:
        return finish(store, place, found, found.end)
    kill_orphan(found.process)
    hiding = place._replace(redaction=collect_redaction(store, _packages(store), found.plan))
    failure = with_files(found.undo or _interrupted_outcome(found), store, found.plan)
    return roll_back(store, hiding, found, failure)


def _packages(store: Store) -> Iterator[Package | None]:
    """Yield what was in force and what came; a record that cannot be read keeps nothing from going back."""
    for name in (INSTALLED, NEXT):
        with suppress(InstallError, OSError):
            record = read_record(store, name)
            yield record.package if record else None


def _interrupted_outcome(found: JournalState) -> Outcome:
    last = found.begun[-1] if found.begun else None
    in_step = found.plan is not None and last is not None and last not in found.ran
    step = found.plan.steps[last] if in_step and found.plan and last is not None else None
    where = f" in `{step.title}`" if step else ""
    return Outcome(
        result=REVERTED,
        commit=found.commit,
        digest=found.digest,
        step=step.title if step else "interrupted",
        command=step.command if step else (),
        output=f"The installation was interrupted{where}.",
    )


def _remove_leftovers(store: Store) -> None:
    """Of one that died before its journal had a line, or after it was cleared."""
    if any(store.disk.stat(store.at, name) is not None for name in (STAGED, BACKUP)):
        tidy(store)
    if store.read("journal") is not None:
        Journal(store).clear()
