"""The plan that leads from what stands to what is meant. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Optional

from .order import RELOAD, RESTART, STOP, Chosen, choose
from .package import RETIRED, Actions, Check, File, Package, Subsystem
from .plan import Entry, Plan, Step, Undo
from .problems import Obstacle, PackageError
from .standing import ABSENT, FILE, FOLDER, LINK, NOTHING, SPECIAL, Standing, meant

Resolve = Callable[[tuple[str, ...]], Optional[tuple[str, ...]]]


@dataclass(frozen=True)
class Request:
    """What is asked: the package in force (None: nothing is known), the new one, and what is to be done.

    `standing` has every path of both; `owners` the numbers of owner and group by their names; `resolve`
    makes a command what this node runs, None where its policy does not let it: on the way forward such a
    command was refused before, on the way back (an older policy let it) it is left out.
    """

    old: Package | None
    new: Package
    actions: Actions
    standing: Mapping[str, Standing]
    owners: Mapping[tuple[str, str], tuple[int, int]]
    missing: tuple[str, ...]
    resolve: Resolve


def paths_of(old: Package | None, new: Package) -> tuple[str, ...]:
    """Every path that an installation may touch."""
    return tuple(sorted({*new.meant, *(old.meant if old else ())}))


def make_plan(request: Request) -> Plan:
    """Files, folders, steps and checks; Obstacle where something stands that is neither file nor link."""
    writes = tuple(_written(request))
    removes = tuple(_removed(request))
    chosen = _chosen(request, drifted(request))
    covered = (name for names in chosen.covered.values() for name in names)
    concerned = sorted({*chosen.restart, *chosen.reload, *covered})
    checks = ((name, _resolved(request.new.running[name].check, request.resolve)) for name in concerned)
    return Plan(
        entries=(*writes, *removes),
        folders=request.missing if writes else (),
        steps=(*_stops(request), *_ordered(_activations(request, chosen))),
        checks=tuple((name, check) for name, check in checks if check),
    )


def drifted(request: Request) -> tuple[str, ...]:
    """The paths where something else stands than the package in force has, nor what the new one means."""
    old, new = request.old.meant if request.old else {}, request.new.meant
    return tuple(
        path
        for path in new
        if path in old
        and request.standing[path] not in (_meant(request, old[path]), _meant(request, new[path]))
    )


def _meant(request: Request, file: File) -> Standing:
    return meant(file.content, file.bits, request.owners[file.owner, file.group])


def _written(request: Request) -> Iterable[Entry]:
    for path, file in sorted(request.new.meant.items()):
        before, after = request.standing[path], _meant(request, file)
        if before.kind in (FOLDER, SPECIAL):
            what = "A folder" if before.kind == FOLDER else "A device, pipe or socket"
            raise Obstacle(f"{what} stands at {path}, where a file is meant.", "Move it away.")
        if before != after:
            yield Entry(path, before, after, _theirs(request, path, before, after))


def _removed(request: Request) -> Iterable[Entry]:
    """What stands where nothing of ours can (a folder, a device) is somebody's and stays."""
    if request.old is None:
        return
    for path in sorted(set(request.old.meant) - set(request.new.meant)):
        before = request.standing[path]
        if before.kind in (FILE, LINK):
            yield Entry(path, before, NOTHING, _theirs(request, path, before, NOTHING))


def _theirs(request: Request, path: str, before: Standing, after: Standing) -> bool:
    """Whether what stands is neither the package in force nor what will stand, and would be lost."""
    if before.kind == ABSENT or before.digest == after.digest:
        return False
    file = request.old.meant.get(path) if request.old else None
    return file is None or before.digest != _meant(request, file).digest


def _chosen(request: Request, mended: Iterable[str]) -> Chosen:
    here, asked = request.new.running, _asked(request)
    concerns = [pair for path in mended for pair in request.new.meant[path].concerns.items()]
    if request.new.state == RETIRED:
        return choose({}, (), ())
    restart = {*asked.restart, *(name for name, way in concerns if way == RESTART)}
    reload = {*asked.reload, *(name for name, way in concerns if way == RELOAD)}
    strangers = sorted((restart | reload) - set(here))
    if strangers:
        raise PackageError(f"The subsystem {strangers[0]!r} is to be activated and is not in the package.")
    return choose(here, restart, reload)


def _asked(request: Request) -> Actions:
    """Nothing, where the package in force is this very one: it has all been done."""
    old, new = request.old, request.new
    if old is not None and (old.commit, old.digest) == (new.commit, new.digest):
        return Actions()
    return request.actions


def stopping(request: Request) -> tuple[Subsystem, ...]:
    """What must be stopped, by the commands of the package in force; a retired node stops all."""
    old = request.old.running if request.old else {}
    asked = old if request.new.state == RETIRED else _asked(request).stop
    found = (old[name] for name in sorted(set(asked)) if name in old and name not in request.new.running)
    return tuple(one for one in found if one.stop)


def _stops(request: Request) -> Iterable[Step]:
    for found in stopping(request):
        command = request.resolve(found.stop)
        if command:
            undo = _undo(request.resolve, (found.restart or found.reload,), [found])
            yield Step(STOP, found.name, command, True, undo)


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


def _ordered(steps: Iterable[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: not step.early)


def _way_back(request: Request, kind: str, name: str, covered: tuple[str, ...]) -> Undo:
    """As the package in force says. What it did not have is stopped, for it did not run.

    Where nothing is known of before, the same is run again with the old files, whether or not that works.
    """
    old, new = request.old, request.new.subsystems[name]
    if old is None:
        return _undo(request.resolve, (new.restart if kind == RESTART else new.reload,), (), required=False)
    found = old.running.get(name)
    if found is None:
        return _undo(request.resolve, (new.stop,), (), required=False)
    ways = (found.restart or found.reload,) if kind == RESTART else (found.reload, found.restart)
    checked = [found, *(old.running[one] for one in covered if one in old.running)]
    return _undo(request.resolve, ways, checked)


def _undo(
    resolve: Resolve, ways: Iterable[tuple[str, ...]], found: Iterable[Subsystem], required: bool = True
) -> Undo:
    commands = (resolve(way) for way in ways)
    checks = (_resolved(one.check, resolve) for one in found)
    kept = tuple(check for check in checks if check)
    return Undo(tuple(command for command in commands if command), kept, required)


def _resolved(check: Check | None, resolve: Resolve) -> Check | None:
    run = resolve(check.run) if check else None
    return Check(run, check.timeout, check.retries) if check and run else None
