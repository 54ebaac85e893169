"""Validating, stopping, restarting, reloading and checking subsystems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from .commands import Ran, run, start_of
from .errors import StepFailed
from .journal import Found, Journal
from .outcome import Outcome
from .package import Check, Package
from .place import Place
from .plan import STOP, Debt, Step
from .policy import Policy
from .staging import staged_command

_UNDO_OUTPUT = 1024
"""Characters that are kept of what a command on the way back says: the first failure matters more."""


def validate(journal: Journal, place: Place, package: Package, policy: Policy) -> None:
    """Ask every subsystem of the node that can tell: one's files may be another's matter too."""
    for name, found in sorted(package.running.items()):
        command = policy.resolved(found.validate)
        if command:
            title = f"validate {name}"
            place.listener.told(title, "begun")
            staged = staged_command(journal.store, command)
            ran = run(staged, place.limits.validate, place.clock, _noting(journal), place.hides)
            _judge(place, title, command, ran)


def take_step(journal: Journal, place: Place, found: Found, number: int, step: Step) -> None:
    """Run a step. Its line is on the disk before, so that nobody begins it again."""
    place.listener.told(step.title, "begun")
    journal.add({"step": number})
    found.begun.append(number)
    ran = run(step.command, place.limits.activate, place.clock, _noting(journal), place.hides)
    _judge(place, step.title, step.command, ran)
    journal.note({"ran": number})
    found.ran.append(number)


def _noting(journal: Journal) -> Callable[[int], None]:
    """What nobody has noted could not be ended by who finds the installation dead."""
    return lambda pid: journal.note({"process": [pid, start_of(pid)]})


def check(journal: Journal, place: Place, name: str, asked: Check) -> None:
    """Until it succeeds or its retries are used up."""
    title = f"check {name}"
    place.listener.told(title, "begun")
    ran = checked(place, asked, _noting(journal))
    _judge(place, title, asked.run, ran)


def checked(place: Place, asked: Check, started: Callable[[int], None]) -> Ran:
    """The last try's result."""
    ran = run(asked.run, asked.timeout, place.clock, started, place.hides)
    for _ in range(asked.retries):
        if ran.well:
            break
        place.clock.sleep(place.limits.check_pause)
        ran = run(asked.run, asked.timeout, place.clock, started, place.hides)
    return ran


def undo_step(journal: Journal, place: Place, step: Step) -> tuple[bool, str]:
    """Make a subsystem take the old files again: whether it did, and what it said if not.

    A daemon that died of the new files cannot be reloaded: a reload that fails is followed by a restart.
    """
    started = noting_if_room(journal)
    said = "" if step.undo.commands else f"{step.name} has no command that takes the old files."
    for command in step.undo.commands:
        title = f"{step.title} again"
        place.listener.told(title, "begun")
        ran = run(command, place.limits.activate, place.clock, started, place.hides)
        if ran.well:
            tried = (checked(place, one, started) for one in step.undo.checks)
            ran = next((bad for bad in tried if not bad.well), ran)
        place.listener.told(title, "done" if ran.well else "failed")
        if ran.well:
            return True, ""
        said = f"{title}: {why(ran)}\n{ran.output[-_UNDO_OUTPUT:]}".rstrip()
    return not step.undo.commands, said


def checked_again(journal: Journal, place: Place, step: Step) -> tuple[bool, str]:
    """Whether a subsystem that has taken the files is well with them, and what it said if not."""
    started = noting_if_room(journal)
    tried = (checked(place, one, started) for one in step.undo.checks)
    bad = next((ran for ran in tried if not ran.well), None)
    if bad is None:
        return True, ""
    return False, f"{step.title}: {why(bad)}\n{bad.output[-_UNDO_OUTPUT:]}".rstrip()


def noting_if_room(journal: Journal) -> Callable[[int], None]:
    """The same where a full disk keeps nothing from being run."""

    def noted(pid: int) -> None:
        with suppress(OSError):
            _noting(journal)(pid)

    return noted


def _judge(place: Place, title: str, command: Sequence[str], ran: Ran) -> None:
    place.listener.told(title, "done" if ran.well else "failed")
    if not ran.well:
        raise StepFailed(title, f"{title}: {why(ran)}", command, ran.code, ran.output)


def why(ran: Ran) -> str:
    """How a command that was not well ended."""
    if ran.code is None:
        return "the time ran out."
    return f"ended by signal {-ran.code}." if ran.code < 0 else f"exit code {ran.code}."


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
