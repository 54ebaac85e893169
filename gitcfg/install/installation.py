"""One installation under the lock, from the examination of the node to its outcome; `install`, `repair`."""

from __future__ import annotations

import os
from collections.abc import Callable

from .activation import run_check, stop_owed, take_step, validate_subsystems
from .disk import Owners, find_owners
from .journal import Journal, JournalState
from .outcome import (
    OK,
    REFUSED,
    REVERTED,
    UNCHANGED,
    Busy,
    InstallError,
    Outcome,
    Refused,
    as_step_failure,
    outcome_to_json,
)
from .package import Actions, Package
from .plan import (
    Plan,
    PlanRequest,
    check_permitted,
    check_space,
    make_plan,
    names_by_action,
    plan_to_json,
    touched_paths,
)
from .policy import Policy
from .record import INSTALLED, NEXT, Record, read_in_force, read_record, settle_debts, write_record
from .recovery import finish, keep_report, recover_interrupted, roll_back
from .staging import back_up, collect_redaction, exchange, find_unknown, kept_paths, prepare, stage
from .store import JOURNAL, STAGED, Place, Store, hold_lock, open_store


class Installation:
    """An installation, called with the open state folder, under the lock, when nothing is left to recover."""

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
        """Take what the installation needs.

        `base` is the digest of the package that the actions start from; "" if that does not matter.
        """
        self.base = base
        self.place = place
        self.spared = spared
        self.confirm = confirm
        self.package = package
        self.actions = actions
        self.policy = policy
        self.outcome = Outcome(OK, package.commit, package.digest)

    def __call__(self, store: Store) -> Outcome:
        record = read_in_force(store)
        self._check_base(record)
        try:
            owners = find_owners(self.package, record.package)
            plan = self.make_plan(store, record, owners)
        except Refused as error:
            outcome = self.outcome._replace(result=REFUSED, step="prepare", output=str(error))
            return keep_report(store, outcome)
        if not plan.idle:
            return self._carry_out(store, record, plan, owners)
        if record.package != self.package:
            write_record(store, INSTALLED, self.package, record.folders)
        settle_debts(store, self.package, self.outcome)
        return keep_report(store, self.outcome._replace(result=UNCHANGED))

    def _check_base(self, record: Record) -> None:
        """Raise Busy if another installation came first: the actions are not for its files."""
        in_force = record.package.digest if record.package is not None else ""
        if self.base and in_force not in ("", self.base, self.package.digest):
            raise Busy(
                "Another installation changed this node in the meantime.",
                "Deploy again.",
            )

    def make_plan(self, store: Store, record: Record, owners: Owners) -> Plan:
        """Return the plan, with nothing touched; raise Refused if it is not permitted or there is no room."""
        paths = touched_paths(record.package, self.package)
        request = PlanRequest(
            old=record.package,
            new=self.package,
            actions=self.actions,
            states={path: store.tree.read_state(path) for path in paths},
            owners=owners,
            missing=store.tree.missing_folders(self.package.meant),
            resolve=self.policy.resolve,
            spared=self.spared,
            owed=record.owed,
        )
        check_permitted(request, self.policy, self.place.folder)
        plan = make_plan(request)
        if not plan.idle:
            check_space(store, plan, self.package, record.package)
        return plan

    def _carry_out(self, store: Store, record: Record, plan: Plan, owners: Owners) -> Outcome:
        state = JournalState(os.urandom(4).hex(), self.package.commit, self.package.digest)
        journal = Journal(store)
        try:
            journal.begin(state.key, state.commit, state.digest)
            self.place = self.place._replace(
                redaction=collect_redaction(store, (record.package, self.package))
            )
            stage(store, self.package, record.package, owners)
            validate_subsystems(journal, self.place, self.package, self.policy)
            store.remove(STAGED)
            write_record(store, NEXT, self.package, (*record.folders, *plan.folders))
            self._swap(store, journal, state, plan)
            kept = (*kept_paths(store, self.place, plan), *state.aside)
            outcome = self.outcome._replace(
                changed=plan.changed, removed=plan.removed, kept=kept, **names_by_action(plan.steps)
            )
            outcome = stop_owed(journal, self.place, self.policy, record.owed, self.package, outcome)
            journal.add({"end": outcome_to_json(outcome)})
        except (OSError, InstallError) as error:
            failure = self.outcome.with_failure(REVERTED, as_step_failure(error))
            return roll_back(store, self.place, state, failure)
        return finish(store, self.place, state, outcome)

    def _swap(self, store: Store, journal: Journal, state: JournalState, plan: Plan) -> None:
        back_up(store, plan)
        journal.add({"plan": plan_to_json(plan)})
        state.plan = plan
        prepare(store, plan, self.package, state.key)
        early = sum(step.early for step in plan.steps)
        for number in range(early):
            take_step(journal, self.place, state, number, plan.steps[number])
        state.aside = exchange(store, self.place, plan, state.key)
        for number in range(early, len(plan.steps)):
            take_step(journal, self.place, state, number, plan.steps[number])
        for name, check in plan.checks:
            run_check(journal, self.place, name, check)
        if self.confirm is not None:
            self.confirm()


def install(
    place: Place,
    package: Package,
    actions: Actions,
    policy: Policy,
    confirm: Callable[[], None] | None = None,
) -> Outcome:
    """Install a package and activate its subsystems; on any failure, restore the previous state.

    `actions` is what the server's comparison with the installed package requires. An interrupted installation
    is first finished or rolled back. The outcome is also saved in the state folder (`last_report`). `confirm`
    is called at the end, when everything is active: if it raises StepFailed, everything is rolled back.
    """
    return _run_guarded(
        place,
        Outcome(OK, package.commit, package.digest),
        Installation(place, package, actions, policy, confirm),
    )


def repair(place: Place, policy: Policy, fresh: Package | None = None) -> Outcome:
    """Repair the files of the installed package that were changed by hand; activate what they concern.

    `fresh` is the same package with the contents of files that hold secrets. Files with contents that are
    unknown here stay as they are.
    """

    def mend(store: Store) -> Outcome:
        record = read_record(store)
        if record is None or record.package is None:
            return Outcome(UNCHANGED, "", "")
        package = record.package
        if fresh is not None and fresh.digest == package.digest:
            secret = {
                path: file for path, file in fresh.files.items() if file.hidden and path in package.files
            }
            package = package._replace(files={**package.files, **secret})
        return Installation(place, package, Actions(), policy, spared=find_unknown(store, package))(store)

    return _run_guarded(place, Outcome(OK, "", ""), mend)


def run_locked(
    place: Place,
    work: Callable[[Store], Outcome],
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run `work` under the lock, after an interrupted installation was finished or rolled back.

    `report` gets the outcome of that one. Raise InstallError (Busy, Damaged, Refused) or OSError if `work`
    cannot begin.
    """
    with open_store(place) as store, hold_lock(store, place):
        before = recover_interrupted(store, place)
        if before is not None:
            if store.has(JOURNAL):
                return before
            report(before)
        return work(store)


def _run_guarded(place: Place, begun: Outcome, work: Callable[[Store], Outcome]) -> Outcome:
    """Run `work` with the state folder and the lock; return an outcome if that is not possible."""
    try:
        return run_locked(place, work)
    except InstallError as error:
        return begun._replace(result=REFUSED, step="prepare", output=str(error))
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        return begun._replace(result=REFUSED, step="prepare", output=f"{error.strerror}{where}.")
