"""One installation, from looking at the node to its outcome."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from .accounts import ids
from .activation import check, take_step, validate
from .finish import finish, kept_names
from .journal import Found, Journal
from .outcome import OK, REFUSED, REVERTED, UNCHANGED, Outcome, outcome_to_json
from .package import Actions, Package
from .place import Place
from .plan import Plan, done, plan_to_json
from .planning import Request, make_plan, paths_of, stopping
from .policy import Policy, refusals
from .problems import InstallError, Refused, StepFailed
from .record import INSTALLED, NEXT, Record, read_record, write_record, write_report
from .rollback import roll_back
from .space import check_space
from .staging import stage
from .store import Store
from .swap import back_up, exchange, prepare

Owners = dict[tuple[str, str], tuple[int, int]]
_NOBODY = (-1, -1)


class Installing:
    """Called with the open state folder, under the lock, when nothing is left to recover."""

    def __init__(
        self,
        place: Place,
        package: Package,
        actions: Actions,
        policy: Policy,
        confirm: Callable[[], None] | None = None,
    ) -> None:
        self.place = place
        self.confirm = confirm
        self.package = package
        self.actions = actions
        self.policy = policy
        self.outcome = Outcome(OK, package.commit, package.digest)

    def __call__(self, store: Store) -> Outcome:
        record = read_record(store) or Record()
        try:
            owners = _owners(self.package, record.package)
            request = self._request(store, record, owners)
            self._permitted(request)
            plan = make_plan(request)
            if not plan.idle:
                check_space(store, plan, self.package, record.package)
        except Refused as error:
            outcome = replace(self.outcome, result=REFUSED, step="prepare", output=str(error))
            return _reported(store, outcome)
        if plan.idle:
            return self._nothing_to_do(store, record)
        return self._carried_out(store, record, plan, owners)

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
        )

    def _permitted(self, request: Request) -> None:
        paths = paths_of(request.old, request.new)
        commands = [command for found in self.package.running.values() for command in found.commands]
        commands += [found.stop for found in stopping(request)]
        refused = refusals(self.policy, paths, commands, self.place.folder)
        if refused:
            raise Refused("\n".join(refused))

    def _nothing_to_do(self, store: Store, record: Record) -> Outcome:
        if record.package != self.package:
            write_record(store, INSTALLED, self.package, record.folders)
        return _reported(store, replace(self.outcome, result=UNCHANGED))

    def _carried_out(self, store: Store, record: Record, plan: Plan, owners: Owners) -> Outcome:
        found = Found(os.urandom(4).hex(), self.package.commit, self.package.digest)
        journal = Journal(store)
        try:
            journal.begin(found.key, found.commit, found.digest)
            stage(store, self.package, record.package, owners)
            validate(store, self.place, self.package, self.policy)
            write_record(store, NEXT, self.package, (*record.folders, *plan.folders))
            self._swapped(store, journal, found, plan)
            outcome = self._done(store, plan)
            journal.add({"end": outcome_to_json(outcome)})
        except (OSError, InstallError) as error:
            return roll_back(store, self.place, found, self.outcome.because(REVERTED, _failure(error)))
        return finish(store, self.place, plan, outcome)

    def _swapped(self, store: Store, journal: Journal, found: Found, plan: Plan) -> None:
        back_up(store, plan)
        journal.add({"plan": plan_to_json(plan)})
        found.plan = plan
        prepare(store, plan, self.package, found.key)
        early = [number for number, step in enumerate(plan.steps) if step.early]
        for number in early:
            take_step(journal, self.place, found, number, plan.steps[number])
        self.place.listener.told("swap files", "begun")
        exchange(store, plan, found.key)
        self.place.listener.told("swap files", "done")
        for number in range(len(early), len(plan.steps)):
            take_step(journal, self.place, found, number, plan.steps[number])
        for name, asked in plan.checks:
            check(self.place, name, asked)
        if self.confirm is not None:
            self.confirm()

    def _done(self, store: Store, plan: Plan) -> Outcome:
        kept = kept_names(store, self.place, plan)
        return replace(
            self.outcome, changed=plan.changed, removed=plan.removed, kept=kept, **done(plan.steps)
        )


def _owners(new: Package, old: Package | None) -> Owners:
    """Numbers of every owner and group. One that only the package in force names may be gone by now."""
    found: Owners = {}
    for file in old.meant.values() if old else ():
        found[file.owner, file.group] = _NOBODY
        with suppress(Refused):
            found[file.owner, file.group] = ids(file.owner, file.group)
    for pair in {(file.owner, file.group) for file in new.meant.values()}:
        found[pair] = ids(*pair)
    return found


def _failure(error: OSError | InstallError) -> StepFailed:
    if isinstance(error, StepFailed):
        return error
    if isinstance(error, OSError):
        where = f" {error.filename}" if isinstance(error.filename, str) else ""
        return StepFailed("write files", f"{error.strerror}{where}.")
    return StepFailed("write files", str(error))


def _reported(store: Store, outcome: Outcome) -> Outcome:
    with suppress(OSError):
        write_report(store, outcome)
    return outcome
