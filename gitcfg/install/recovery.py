"""After dying in the middle: finish what was decided, take back everything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from .finish import finish, tidy
from .found import Found, read_journal
from .journal import Journal
from .orphans import end_orphan
from .outcome import REVERTED, Outcome
from .package import Package
from .place import Place
from .problems import InstallError
from .record import INSTALLED, NEXT, read_record
from .restoring import with_files
from .rollback import roll_back
from .store import BACKUP, STAGED, Store
from .unshown import hiding_of


def recovered(store: Store, place: Place) -> Outcome | None:
    """What the interrupted installation came to; None if none was interrupted. Dying in here is well too.

    A command that was running when its installation died is killed: nobody knows how far it came, and the way
    back activates its subsystem anew. One that was taken back tells which files were written for that.
    """
    with suppress(OSError):
        # First, and also where the journal cannot be read: nothing needs it, and it may hold secrets.
        store.remove(STAGED)
    found = read_journal(store)
    if found is None:
        _leftovers(store)
        return None
    Journal(store).mend()
    if found.end is not None:
        return finish(store, place, found, found.end)
    end_orphan(found.process)
    hiding = place._replace(hides=hiding_of(store, _packages(store), found.plan))
    failure = with_files(found.undo or _interrupted(found), store, found.plan)
    return roll_back(store, hiding, found, failure)


def _packages(store: Store) -> Iterator[Package | None]:
    """What was in force and what came; a record that cannot be read keeps nothing from going back."""
    for name in (INSTALLED, NEXT):
        with suppress(InstallError, OSError):
            record = read_record(store, name)
            yield record.package if record else None


def _interrupted(found: Found) -> Outcome:
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


def _leftovers(store: Store) -> None:
    """Of one that died before its journal had a line, or after it was cleared."""
    if any(store.disk.stat(store.at, name) is not None for name in (STAGED, BACKUP)):
        tidy(store)
    if store.read("journal") is not None:
        Journal(store).clear()
