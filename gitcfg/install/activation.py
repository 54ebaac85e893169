"""Running the commands of subsystems: validate, stop, restart, reload and check them, and undo steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from .commands import CommandResult, run_command, start_time
from .journal import Journal, JournalState
from .outcome import Outcome, StepFailed
from .package import Check, Package
from .plan import STOP, Debt, Step
from .policy import Policy
from .staging import staged_command
from .store import Place

_UNDO_OUTPUT = 1024
"""Characters that are kept of what a command on the way back says: the first failure matters more."""


def validate_subsystems(journal: Journal, place: Place, package: Package, policy: Policy) -> None:
    """Run the validate commands of all subsystems: the files of one may concern another too."""
    for name, found in sorted(package.running.items()):
        command = policy.resolve(found.validate)
        if command:
            title = f"validate {name}"
            place.listener.notify(title, "begun")
            staged = staged_command(journal.store, command)
            ran = run_command(
                staged, place.limits.validate, place.clock, _process_recorder(journal), place.redaction
            )
            _raise_unless_ok(place, title, command, ran)


def take_step(journal: Journal, place: Place, found: JournalState, number: int, step: Step) -> None:
    """Run a step. Its line is on the disk before, so that it is never begun again."""
    place.listener.notify(step.title, "begun")
    journal.add({"step": number})
    found.begun.append(number)
    ran = run_command(
        step.command, place.limits.activate, place.clock, _process_recorder(journal), place.redaction
    )
    _raise_unless_ok(place, step.title, step.command, ran)
    journal.note({"ran": number})
    found.ran.append(number)


def _process_recorder(journal: Journal) -> Callable[[int], None]:
    """Return what notes a started process, so that recovery can kill it if this installation dies."""
    return lambda pid: journal.note({"process": [pid, start_time(pid)]})


def run_check(journal: Journal, place: Place, name: str, wanted: Check) -> None:
    """Run a check until it succeeds or its retries are used up; StepFailed then."""
    title = f"check {name}"
    place.listener.notify(title, "begun")
    ran = try_check(place, wanted, _process_recorder(journal))
    _raise_unless_ok(place, title, wanted.run, ran)


def try_check(place: Place, wanted: Check, started: Callable[[int], None]) -> CommandResult:
    """Run a check with its retries; return the result of the last try."""
    ran = run_command(wanted.run, wanted.timeout, place.clock, started, place.redaction)
    for _ in range(wanted.retries):
        if ran.ok:
            break
        place.clock.sleep(place.limits.check_pause)
        ran = run_command(wanted.run, wanted.timeout, place.clock, started, place.redaction)
    return ran


def undo_step(journal: Journal, place: Place, step: Step) -> tuple[bool, str]:
    """Make a subsystem take the old files again: whether it did, and what it said if not.

    A daemon that died of the new files cannot be reloaded: a reload that fails is followed by a restart.
    """
    started = lenient_process_recorder(journal)
    problem = "" if step.undo.commands else f"{step.name} has no command that takes the old files."
    for command in step.undo.commands:
        title = f"{step.title} again"
        place.listener.notify(title, "begun")
        ran = run_command(command, place.limits.activate, place.clock, started, place.redaction)
        if ran.ok:
            tried = (try_check(place, one, started) for one in step.undo.checks)
            ran = next((bad for bad in tried if not bad.ok), ran)
        place.listener.notify(title, "done" if ran.ok else "failed")
        if ran.ok:
            return True, ""
        problem = f"{title}: {describe_end(ran)}\n{ran.output[-_UNDO_OUTPUT:]}".rstrip()
    return not step.undo.commands, problem


def recheck_step(journal: Journal, place: Place, step: Step) -> tuple[bool, str]:
    """Return whether a subsystem that has taken the files is well with them, and what it said if not."""
    started = lenient_process_recorder(journal)
    tried = (try_check(place, one, started) for one in step.undo.checks)
    bad = next((ran for ran in tried if not ran.ok), None)
    if bad is None:
        return True, ""
    return False, f"{step.title}: {describe_end(bad)}\n{bad.output[-_UNDO_OUTPUT:]}".rstrip()


def lenient_process_recorder(journal: Journal) -> Callable[[int], None]:
    """Return the same, but a full disk keeps no command from being run."""

    def noted(pid: int) -> None:
        with suppress(OSError):
            _process_recorder(journal)(pid)

    return noted


def _raise_unless_ok(place: Place, title: str, command: Sequence[str], ran: CommandResult) -> None:
    place.listener.notify(title, "done" if ran.ok else "failed")
    if not ran.ok:
        raise StepFailed(title, f"{title}: {describe_end(ran)}", command, ran.code, ran.output)


def describe_end(ran: CommandResult) -> str:
    """Say how a command that failed ended."""
    if ran.code is None:
        return "the time ran out."
    return f"ended by signal {-ran.code}." if ran.code < 0 else f"exit code {ran.code}."


def stop_owed(
    journal: Journal, place: Place, policy: Policy, owed: Iterable[Debt], package: Package, outcome: Outcome
) -> Outcome:
    """Stop what is owed, and return the outcome with what was stopped.

    What does not let itself be stopped keeps nothing from being in force: mostly it is a new subsystem whose
    program was never there. It stays owed, and is told.
    """
    for one in owed:
        command = policy.resolve(one.command) if one.kind == STOP else None
        if command and one.name not in package.running and one.name not in outcome.stopped:
            problem = _stop(journal, place, one, command)
            if problem:
                output = "\n".join(part for part in (outcome.output, problem) if part)
                outcome = outcome._replace(output=output)
            else:
                outcome = outcome._replace(stopped=(*outcome.stopped, one.name))
    return outcome


def _stop(journal: Journal, place: Place, one: Debt, command: tuple[str, ...]) -> str:
    """Run the command that stops a subsystem; return what went wrong, or nothing."""
    title = f"stop {one.name}"
    place.listener.notify(title, "begun")
    ran = run_command(
        command, place.limits.activate, place.clock, lenient_process_recorder(journal), place.redaction
    )
    place.listener.notify(title, "done" if ran.ok else "failed")
    return "" if ran.ok else f"{title}, which is owed: {describe_end(ran)} It stays owed."
