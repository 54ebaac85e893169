"""The commands of subsystems: validate, stop, restart, reload, check, and the undoing of steps."""

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
"""Characters of output that are kept of a command during a rollback: the first failure matters more."""


def validate_subsystems(journal: Journal, place: Place, package: Package, policy: Policy) -> None:
    """Run the validate commands of all subsystems: the files of one may also concern another."""
    for name, found in sorted(package.running.items()):
        command = policy.resolve(found.validate)
        if command:
            title = f"validate {name}"
            place.listener.notify(title, "begun")
            staged = staged_command(journal.store, command)
            result = _run(place, staged, place.limits.validate, _process_recorder(journal))
            _raise_unless_ok(place, title, command, result)


def take_step(journal: Journal, place: Place, state: JournalState, number: int, step: Step) -> None:
    """Run a step. Its line is on the disk before, so that the step never begins twice."""
    place.listener.notify(step.title, "begun")
    journal.add({"step": number})
    state.begun.append(number)
    result = _run(place, step.command, place.limits.activate, _process_recorder(journal))
    _raise_unless_ok(place, step.title, step.command, result)
    journal.note({"ran": number})
    state.ran.append(number)


def _run(
    place: Place, command: Sequence[str], timeout: float, started: Callable[[int], None]
) -> CommandResult:
    return run_command(command, timeout, place.clock, started, place.redaction)


def _process_recorder(journal: Journal) -> Callable[[int], None]:
    """Return a function that records a started process, so that recovery can kill it after a crash."""
    return lambda pid: journal.note({"process": [pid, start_time(pid)]})


def run_check(journal: Journal, place: Place, name: str, check: Check) -> None:
    """Run a check until it succeeds or its retries are used up; raise StepFailed then."""
    title = f"check {name}"
    place.listener.notify(title, "begun")
    result = try_check(place, check, _process_recorder(journal))
    _raise_unless_ok(place, title, check.run, result)


def try_check(place: Place, check: Check, started: Callable[[int], None]) -> CommandResult:
    """Run a check with its retries; return the result of the last try."""
    result = _run(place, check.run, check.timeout, started)
    for _ in range(check.retries):
        if result.ok:
            break
        place.clock.sleep(place.limits.check_pause)
        result = _run(place, check.run, check.timeout, started)
    return result


def _find_failed_check(journal: Journal, place: Place, step: Step) -> CommandResult | None:
    started = lenient_process_recorder(journal)
    results = (try_check(place, check, started) for check in step.undo.checks)
    return next((result for result in results if not result.ok), None)


def undo_step(journal: Journal, place: Place, step: Step) -> tuple[bool, str]:
    """Make a subsystem use the old files again; return whether it does, and its output if not.

    A daemon that died of the new files cannot be reloaded: if the reload fails, it is restarted.
    """
    started = lenient_process_recorder(journal)
    problem = "" if step.undo.commands else f"{step.name} has no command to activate the old files."
    for command in step.undo.commands:
        title = f"{step.title} again"
        place.listener.notify(title, "begun")
        result = _run(place, command, place.limits.activate, started)
        if result.ok:
            result = _find_failed_check(journal, place, step) or result
        place.listener.notify(title, "done" if result.ok else "failed")
        if result.ok:
            return True, ""
        problem = _describe_failure(title, result)
    return not step.undo.commands, problem


def recheck_step(journal: Journal, place: Place, step: Step) -> tuple[bool, str]:
    """Return whether a subsystem that uses the files works with them, and its output if not."""
    failed = _find_failed_check(journal, place, step)
    return failed is None, _describe_failure(step.title, failed) if failed else ""


def _describe_failure(title: str, result: CommandResult) -> str:
    return f"{title}: {describe_end(result)}\n{result.output[-_UNDO_OUTPUT:]}".rstrip()


def lenient_process_recorder(journal: Journal) -> Callable[[int], None]:
    """Return a recorder of processes that ignores a full disk, so that the command runs all the same."""
    record = _process_recorder(journal)

    def record_if_possible(pid: int) -> None:
        with suppress(OSError):
            record(pid)

    return record_if_possible


def _raise_unless_ok(place: Place, title: str, command: Sequence[str], result: CommandResult) -> None:
    place.listener.notify(title, "done" if result.ok else "failed")
    if not result.ok:
        raise StepFailed(title, f"{title}: {describe_end(result)}", command, result.code, result.output)


def describe_end(result: CommandResult) -> str:
    """Describe how a command that failed ended."""
    if result.code is None:
        return "timed out."
    return f"ended by signal {-result.code}." if result.code < 0 else f"exit code {result.code}."


def stop_owed(
    journal: Journal, place: Place, policy: Policy, owed: Iterable[Debt], package: Package, outcome: Outcome
) -> Outcome:
    """Stop what is pending, and return the outcome with what was stopped.

    A stop that fails does not make the installation fail: mostly it is a new subsystem whose program was
    never there. It stays pending, and the outcome reports it.
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
    """Run the command that stops a subsystem; return the problem, or "" if there is none."""
    title = f"stop {one.name}"
    place.listener.notify(title, "begun")
    result = _run(place, command, place.limits.activate, lenient_process_recorder(journal))
    place.listener.notify(title, "done" if result.ok else "failed")
    return "" if result.ok else f"The pending {title} failed: {describe_end(result)} It stays pending."
