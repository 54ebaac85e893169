"""Installing and repairing: the ways in, under the lock."""

from __future__ import annotations

from collections.abc import Callable

from .installing import Installing
from .lock import held
from .outcome import OK, REFUSED, UNCHANGED, Outcome
from .package import Actions, Package
from .place import Place
from .policy import Policy
from .problems import InstallError
from .record import read_record
from .recovery import recovered
from .store import JOURNAL, Store, opened
from .unshown import unknown


def install(
    place: Place,
    package: Package,
    actions: Actions,
    policy: Policy,
    confirm: Callable[[], None] | None = None,
) -> Outcome:
    """Make a node what `package` says, and its subsystems take it; on any failure, what it was.

    `actions` is what the server's comparison with the package in force asks for. An installation that died
    before is first finished or taken back. The outcome is also kept in the state folder (`last_report`).
    `confirm` has the last word when everything is active: by raising StepFailed it takes all of it back.
    """
    return _guarded(
        place,
        Outcome(OK, package.commit, package.digest),
        Installing(place, package, actions, policy, confirm),
    )


def repair(place: Place, policy: Policy, fresh: Package | None = None) -> Outcome:
    """Mend the files of the package in force that were changed by hand; what they concern is activated.

    The contents of files that hold secrets are in `fresh`, the same package anew. Those that nobody knows
    here stay as they are.
    """

    def mend(store: Store) -> Outcome:
        record = read_record(store)
        if record is None or record.package is None:
            return Outcome(UNCHANGED, "", "")
        package = _completed(record.package, fresh)
        return Installing(place, package, Actions(), policy, spared=unknown(store, package))(store)

    return _guarded(place, Outcome(OK, "", ""), mend)


def _completed(package: Package, fresh: Package | None) -> Package:
    """With the contents of its secret files, if they are of the same digest."""
    if fresh is None or fresh.digest != package.digest:
        return package
    known = {path: file for path, file in fresh.files.items() if file.hidden and path in package.files}
    return package._replace(files={**package.files, **known})


def _unheard(outcome: Outcome) -> None:
    """Nobody asks."""


def under_lock(
    place: Place, work: Callable[[Store], Outcome], heard: Callable[[Outcome], None] = _unheard
) -> Outcome:
    """What `work` comes to, when an installation that died is finished or taken back; else what that came to.

    `heard` is told of such a one. InstallError (Busy, Damaged, Refused) or OSError where it does not come to
    that.
    """
    with opened(place) as store, held(store, place):
        before = recovered(store, place)
        if before is not None and store.disk.stat(store.at, JOURNAL) is not None:
            return before
        if before is not None:
            heard(before)
        return work(store)


def _guarded(place: Place, begun: Outcome, work: Callable[[Store], Outcome]) -> Outcome:
    """With the state folder and the lock; whatever is in the way of that is an outcome too."""
    try:
        return under_lock(place, work)
    except InstallError as error:
        return begun._replace(result=REFUSED, step="prepare", output=str(error))
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        return begun._replace(result=REFUSED, step="prepare", output=f"{error.strerror}{where}.")
