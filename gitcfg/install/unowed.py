"""Stops that are owed: of what the package in force does not have. They go along with an installation."""

from __future__ import annotations

from collections.abc import Iterable

from .activation import noting_if_room, why
from .commands import run
from .journal import Journal
from .order import STOP, Debt
from .outcome import Outcome
from .package import Package
from .place import Place
from .policy import Policy


def stop_owed(
    journal: Journal, place: Place, policy: Policy, owed: Iterable[Debt], package: Package, outcome: Outcome
) -> Outcome:
    """The outcome of a package that is well, with what was stopped beside it.

    What does not let itself be stopped keeps nothing from being in force: mostly it is a new subsystem whose
    program was never there. It stays owed, and is told.
    """
    for one in owed:
        command = policy.resolved(one.command) if one.kind == STOP else None
        if command and one.name not in package.running and one.name not in outcome.stopped:
            said = _stopped(journal, place, one, command)
            if said:
                output = "\n".join(part for part in (outcome.output, said) if part)
                outcome = outcome._replace(output=output)
            else:
                outcome = outcome._replace(stopped=(*outcome.stopped, one.name))
    return outcome


def _stopped(journal: Journal, place: Place, one: Debt, command: tuple[str, ...]) -> str:
    """What is wrong, or nothing."""
    title = f"stop {one.name}"
    place.listener.told(title, "begun")
    ran = run(command, place.limits.activate, place.clock, noting_if_room(journal), place.hides)
    place.listener.told(title, "done" if ran.well else "failed")
    return "" if ran.well else f"{title}, which is owed: {why(ran)} It stays owed."
