"""One installation, from looking at the node to its outcome."""

from __future__ import annotations

import os
from collections.abc import Callable

from .activation import check, stop_owed, take_step, validate
from .errors import Busy, InstallError, Refused, failure
from .journal import Found, Journal
from .outcome import OK, REFUSED, REVERTED, UNCHANGED, Outcome, outcome_to_json
from .owners import Owners, owners_of
from .package import Actions, Package
from .place import Place
from .plan import Plan, done, plan_to_json
from .planning import Request, check_space, make_plan, paths_of, permit
from .policy import Policy
from .record import INSTALLED, NEXT, Record, in_force, read_record, settle, write_record
from .recovery import finish, recovered, reported, roll_back
from .secrets import hiding_of, unknown
from .staging import back_up, exchange, kept_names, prepare, stage
from .store import JOURNAL, STAGED, Store, held, opened


class Installing:
    """Called with the open state folder, under the lock, when nothing is left to recover."""

    def __init__(
        self,
        place: Place,
        package: Package,
        actions: Actions,
        policy: Policy,
        confirm: Callable[[], None] | None = None,
        spared: frozenset[str] = frozenset(),
        base: str = "",
    ) -> None:
        """`base` is the digest of what the actions begin from; "" where that does not matter."""
        self.base = base
        self.place = place
        self.spared = spared
        self.confirm = confirm
        self.package = package
        self.actions = actions
        self.policy = policy
        self.outcome = Outcome(OK, package.commit, package.digest)

    def __call__(self, store: Store) -> Outcome:
        record = in_force(store)
        self._begins_from(record)
        try:
            owners = owners_of(self.package, record.package)
            plan = self.planned(store, record, owners)
        except Refused as error:
            outcome = self.outcome._replace(result=REFUSED, step="prepare", output=str(error))
            return reported(store, outcome)
        if plan.idle:
            return self._nothing_to_do(store, record)
        return self._carried_out(store, record, plan, owners)

    def _begins_from(self, record: Record) -> None:
        """Busy: somebody was quicker. The actions would leave daemons with what that has brought."""
        stands = record.package.digest if record.package is not None else ""
        if self.base and stands not in ("", self.base, self.package.digest):
            raise Busy(
                "Another installation ended here meanwhile: what stands is not what this one begins from.",
                "Deploy again.",
            )

    def planned(self, store: Store, record: Record, owners: Owners) -> Plan:
        """What is to be done, with nothing touched; Refused where it may not be, or there is no room."""
        request = self._request(store, record, owners)
        permit(request, self.policy, self.place.folder)
        plan = make_plan(request)
        if not plan.idle:
            check_space(store, plan, self.package, record.package)
        return plan

    def _request(self, store: Store, record: Record, owners: Owners) -> Request:
        paths = paths_of(record.package, self.package)
        return Request(
            old=record.package,
            new=self.package,
            actions=self.actions,
            standing={path: store.tree.look(path) for path in paths},
            owners=owners,
            missing=store.tree.missing_folders(self.package.meant),
            resolve=self.policy.resolved,
            spared=self.spared,
            owed=record.owed,
        )

    def _nothing_to_do(self, store: Store, record: Record) -> Outcome:
        if record.package != self.package:
            write_record(store, INSTALLED, self.package, record.folders)
        settle(store, self.package, self.outcome)
        return reported(store, self.outcome._replace(result=UNCHANGED))

    def _carried_out(self, store: Store, record: Record, plan: Plan, owners: Owners) -> Outcome:
        found = Found(os.urandom(4).hex(), self.package.commit, self.package.digest)
        journal = Journal(store)
        try:
            journal.begin(found.key, found.commit, found.digest)
            self.place = self.place._replace(hides=hiding_of(store, (record.package, self.package)))
            stage(store, self.package, record.package, owners)
            validate(journal, self.place, self.package, self.policy)
            store.remove(STAGED)
            write_record(store, NEXT, self.package, (*record.folders, *plan.folders))
            self._swapped(store, journal, found, plan)
            outcome = self._done(store, found, plan)
            outcome = stop_owed(journal, self.place, self.policy, record.owed, self.package, outcome)
            journal.add({"end": outcome_to_json(outcome)})
        except (OSError, InstallError) as error:
            return roll_back(store, self.place, found, self.outcome.because(REVERTED, failure(error)))
        return finish(store, self.place, found, outcome)

    def _swapped(self, store: Store, journal: Journal, found: Found, plan: Plan) -> None:
        back_up(store, plan)
        journal.add({"plan": plan_to_json(plan)})
        found.plan = plan
        prepare(store, plan, self.package, found.key)
        early = [number for number, step in enumerate(plan.steps) if step.early]
        for number in early:
            take_step(journal, self.place, found, number, plan.steps[number])
        found.aside = exchange(store, self.place, plan, found.key)
        for number in range(len(early), len(plan.steps)):
            take_step(journal, self.place, found, number, plan.steps[number])
        for name, asked in plan.checks:
            check(journal, self.place, name, asked)
        if self.confirm is not None:
            self.confirm()

    def _done(self, store: Store, found: Found, plan: Plan) -> Outcome:
        kept = (*kept_names(store, self.place, plan), *found.aside)
        return self.outcome._replace(
            changed=plan.changed, removed=plan.removed, kept=kept, **done(plan.steps)
        )


# Installing and repairing: the ways in, under the lock.


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
