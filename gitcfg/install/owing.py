"""What a way back leaves owed: what it could not do, beside what was owed before and it did not do."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from .activation import checked_again, undo_step
from .found import Found
from .journal import Journal
from .order import RESTART, STOP, Debt
from .owed import read_owed, write_owed
from .place import Place
from .plan import Step
from .problems import Damaged, InstallError
from .record import read_record
from .store import Store


def pays(store: Store, found: Found) -> bool:
    """Whether nothing was to be done but what the package in force is owed: then nothing is to be undone."""
    with suppress(InstallError, OSError):
        record = read_record(store)
        known = record.package if record else None
        return known is not None and known.digest == found.digest and not (found.plan and found.plan.entries)
    return False


def taken_back(store: Store, place: Place, found: Found, number: int) -> tuple[bool, str]:
    """Whether the subsystem of a step has the files that stand now, and what it said if not.

    Of what only was owed, a step that ended well is not run once more for the sake of another that did not:
    its checks tell.
    """
    assert found.plan is not None
    step, journal = found.plan.steps[number], Journal(store)
    if not pays(store, found):
        return undo_step(journal, place, step)
    return checked_again(journal, place, step) if number in found.ran else (False, "")


def keep_owed(store: Store, found: Found) -> None:
    """Note it, before anybody hears that it is over. OSError: it cannot be noted.

    A note that is damaged stays so: whoever reads it next has everything installed anew.
    """
    assert found.plan is not None
    told = [(found.plan.steps[number], well) for number, (well, _) in sorted(found.undone.items())]
    with suppress(Damaged):
        before = read_owed(store)
        after = owing(before, told)
        try:
            write_owed(store, after)
        except OSError:
            if not set(after) <= set(before):
                raise  # what was paid may be paid once more


def still_owes(store: Store, found: Found) -> bool:
    """Whether the package in force was only to be paid for, and is not."""
    with suppress(Damaged, OSError):
        return pays(store, found) and any(one.kind != STOP for one in read_owed(store))
    return True


def owing(before: Iterable[Debt], told: Iterable[tuple[Step, bool]]) -> tuple[Debt, ...]:
    """What is owed then. Pure."""
    found = {one.name: one for one in before}
    for step, well in told:
        for one in step.undo.owes:
            if _is_paid(step, one, well):
                found.pop(one.name, None)
            elif not (one.name in found and found[one.name].kind == RESTART and one.kind != STOP):
                found[one.name] = one
    return tuple(found.values())


def _is_paid(step: Step, one: Debt, well: bool) -> bool:
    """What a restart restarted beside what it was for is not brought back by stopping that."""
    if not (well and step.undo.commands):
        return False
    return one.name == step.name or all(other.kind != STOP for other in step.undo.owes)
