"""The steps of a plan: the command of each, and how it is undone."""

from __future__ import annotations

from collections.abc import Iterable

from .order import RELOAD, RESTART, STOP, Chosen, Debt
from .package import RETIRED, Check, Subsystem
from .plan import Step, Undo
from .request import Request, Resolve, asked


def stopping(request: Request) -> tuple[Subsystem, ...]:
    """What must be stopped, by the commands of the package in force; a retired node stops all."""
    old = request.old.running if request.old else {}
    wanted = old if request.new.state == RETIRED else asked(request).stop
    found = (old[name] for name in sorted(set(wanted)) if name in old and name not in request.new.running)
    return tuple(one for one in found if one.stop)


def stops(request: Request) -> Iterable[Step]:
    """Before the files are swapped: what stops may read its old ones."""
    for found in stopping(request):
        command = request.resolve(found.stop)
        if command:
            owes = (Debt(found.name, RESTART),)
            undo = _undo(request.resolve, (found.restart or found.reload,), [found], owes)
            yield Step(STOP, found.name, command, True, undo)


def activations(request: Request, chosen: Chosen) -> list[Step]:
    """Restarts and reloads; what acts with the old files first."""
    return sorted(_activations(request, chosen), key=lambda step: not step.early)


def _activations(request: Request, chosen: Chosen) -> Iterable[Step]:
    """What the node did not run before has no old files to act with."""
    here, before = request.new.running, request.old.running if request.old else {}
    for kind, names in ((RESTART, chosen.restart), (RELOAD, chosen.reload)):
        for name in names:
            found = here[name]
            command = request.resolve(found.restart if kind == RESTART else found.reload)
            if command:
                undo = _way_back(request, kind, name, chosen.covered.get(name, ()))
                yield Step(kind, name, command, found.using == "old" and name in before, undo)


def _way_back(request: Request, kind: str, name: str, covered: tuple[str, ...]) -> Undo:
    """As the package in force says. What it did not have is stopped, for it did not run.

    Where nothing is known of before, the same is run again with the old files, whether or not that works.
    """
    old, new = request.old, request.new.subsystems[name]
    if old is None:
        way = new.restart if kind == RESTART else new.reload
        return _undo(request.resolve, (way,), (), (Debt(name, kind),), required=False)
    beside = [old.running[one] for one in covered if one in old.running]
    owes = tuple(Debt(one.name, RESTART) for one in beside)
    found = old.running.get(name)
    if found is None:
        stop = request.resolve(new.stop)
        own = (Debt(name, STOP, stop),) if stop else ()
        return _undo(request.resolve, (new.stop,), (), (*own, *owes), required=False)
    ways = (found.restart or found.reload,) if kind == RESTART else (found.reload, found.restart)
    owed = Debt(name, RESTART if all(ways) else kind)  # one that may not do for a reload has failed too
    return _undo(request.resolve, ways, [found, *beside], (owed, *owes))


def _undo(
    resolve: Resolve,
    ways: Iterable[tuple[str, ...]],
    found: Iterable[Subsystem],
    owes: tuple[Debt, ...],
    required: bool = True,
) -> Undo:
    commands = (resolve(way) for way in ways)
    checks = (resolved_check(one.check, resolve) for one in found)
    kept = tuple(check for check in checks if check)
    return Undo(tuple(command for command in commands if command), kept, required, owes)


def resolved_check(check: Check | None, resolve: Resolve) -> Check | None:
    """A check as this node runs it; None if there is none, or its policy does not let it."""
    run = resolve(check.run) if check else None
    return Check(run, check.timeout, check.retries) if check and run else None
