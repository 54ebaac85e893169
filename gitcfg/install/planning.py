"""Making a plan: the files to write and remove, the steps, and whether policy and disk allow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Optional

from .disk import ABSENT, FILE, FOLDER, LARGEST, LINK, NOTHING, SPECIAL, Disk, FileState, Tree, intended_state
from .errors import NoRoom, Obstacle, PackageError, Refused
from .package import RETIRED, Actions, Check, File, Package, Subsystem
from .paths import folders_of
from .plan import RELOAD, RESTART, STOP, Activations, Debt, Entry, Plan, Step, Undo, choose_activations
from .policy import Policy, find_refusals
from .store import Store

Resolve = Callable[[tuple[str, ...]], Optional[tuple[str, ...]]]


class Request(NamedTuple):
    """What is asked: the package in force (None: nothing is known), the new one, and what is to be done.

    `states` has every path of both; `owners` the numbers of owner and group by their names; `resolve`
    makes a command what this node runs, None where its policy does not let it: on the way forward such a
    command was refused before, on the way back (an older policy let it) it is left out. `spared` stand as
    they do: their content is secret, and not known here. `owed` is what failed on a way back before.
    """

    old: Package | None
    new: Package
    actions: Actions
    states: Mapping[str, FileState]
    owners: Mapping[tuple[str, str], tuple[int, int]]
    missing: tuple[str, ...]
    resolve: Resolve
    spared: frozenset[str] = frozenset()
    owed: tuple[Debt, ...] = ()


def touched_paths(old: Package | None, new: Package) -> tuple[str, ...]:
    """Return every path that an installation may touch."""
    return tuple(sorted({*new.meant, *(old.meant if old else ())}))


def effective_actions(request: Request) -> Actions:
    """Return what is to be done: nothing if the package in force is this very one."""
    old, new = request.old, request.new
    if old is not None and (old.commit, old.digest) == (new.commit, new.digest):
        return Actions()
    return request.actions


# Files.


def find_drifted(request: Request) -> tuple[str, ...]:
    """The paths where something else stands than the package in force has, nor what the new one means.

    And secrets that came without a new version: no comparison of two commits tells of them.
    """
    old, new = request.old.meant if request.old else {}, request.new.meant
    return tuple(
        path
        for path in new
        if path in old and path not in request.spared and _is_drifted(request, old[path], new[path])
    )


def _is_drifted(request: Request, old: File, new: File) -> bool:
    if request.states[new.path] not in (_intended_state(request, old), _intended_state(request, new)):
        return True
    return old.digest == new.digest and old.sha256 != new.sha256


def _intended_state(request: Request, file: File) -> FileState:
    return intended_state(file, request.owners[file.owner, file.group])


def plan_writes(request: Request) -> Iterable[Entry]:
    """Yield what does not stand as the new package means it."""
    for path, file in sorted(request.new.meant.items()):
        before, after = request.states[path], _intended_state(request, file)
        _refuse(path, before)
        if before != after and path not in request.spared:
            _refuse_unknown(file, before)
            yield Entry(path, before, after, _is_foreign(request, path, before, after))


def plan_removals(request: Request) -> Iterable[Entry]:
    """Yield what only the package in force has.

    What stands where nothing of ours can (a folder, a device) is somebody's and stays.
    """
    if request.old is None:
        return
    for path in sorted(set(request.old.meant) - set(request.new.meant)):
        before = request.states[path]
        if before.kind in (FILE, LINK):
            _refuse(path, before)
            yield Entry(path, before, NOTHING, _is_foreign(request, path, before, NOTHING))


def _refuse(path: str, before: FileState) -> None:
    if before.kind in (FOLDER, SPECIAL):
        what = "A folder" if before.kind == FOLDER else "A device, pipe or socket"
        raise Obstacle(f"{what} stands at {path}, where a file is meant.", "Move it away.")
    if before.kind == FILE and before.size > LARGEST:
        raise Obstacle(
            f"A file of {before.size >> 20} MiB stands at {path}, too large to keep.", "Move it away."
        )


def _refuse_unknown(file: File, before: FileState) -> None:
    if file.true_content is None and before.digest != file.sha256:
        raise Refused(
            f"{file.path} holds secrets, and its content was not handed along.",
            "A server hands it to the node itself, over TLS.",
        )


def _is_foreign(request: Request, path: str, before: FileState, after: FileState) -> bool:
    """Whether what stands is neither the package in force nor what will stand, and would be lost."""
    if before.kind == ABSENT or before.digest == after.digest:
        return False
    file = request.old.meant.get(path) if request.old else None
    return file is None or before.digest != _intended_state(request, file).digest


# Steps, and how they are undone.


def find_stopping(request: Request) -> tuple[Subsystem, ...]:
    """Return what must be stopped, by the commands of the package in force; a retired node stops all."""
    old = request.old.running if request.old else {}
    wanted = old if request.new.state == RETIRED else effective_actions(request).stop
    found = (old[name] for name in sorted(set(wanted)) if name in old and name not in request.new.running)
    return tuple(one for one in found if one.stop)


def plan_stops(request: Request) -> Iterable[Step]:
    """Before the files are swapped: what stops may read its old ones."""
    for found in find_stopping(request):
        command = request.resolve(found.stop)
        if command:
            owes = (Debt(found.name, RESTART),)
            undo = _undo(request.resolve, (found.restart or found.reload,), [found], owes)
            yield Step(STOP, found.name, command, True, undo)


def plan_activations(request: Request, chosen: Activations) -> list[Step]:
    """Return restarts and reloads; what acts with the old files first."""
    return sorted(_plan_activations(request, chosen), key=lambda step: not step.early)


def _plan_activations(request: Request, chosen: Activations) -> Iterable[Step]:
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
    checks = (resolve_check(one.check, resolve) for one in found)
    kept = tuple(check for check in checks if check)
    return Undo(tuple(command for command in commands if command), kept, required, owes)


def resolve_check(check: Check | None, resolve: Resolve) -> Check | None:
    """Return a check as this node runs it; None if there is none, or its policy does not allow it."""
    run = resolve(check.run) if check else None
    return Check(run, check.timeout, check.retries) if check and run else None


# The plan. Pure.


def check_permitted(request: Request, policy: Policy, state: str) -> None:
    """Raise Refused if the policy forbids a path or a command; `state` is the path of the state folder."""
    commands = [command for found in request.new.running.values() for command in found.commands]
    commands += [found.stop for found in find_stopping(request)]
    refused = find_refusals(policy, touched_paths(request.old, request.new), commands, state)
    if refused:
        raise Refused("\n".join(refused))


def make_plan(request: Request) -> Plan:
    """Files, folders, steps and checks; Obstacle where something stands that is neither file nor link."""
    writes = tuple(plan_writes(request))
    removes = tuple(plan_removals(request))
    chosen = _choose(request, find_drifted(request))
    covered = (name for names in chosen.covered.values() for name in names)
    concerned = sorted({*chosen.restart, *chosen.reload, *covered})
    checks = ((name, resolve_check(request.new.running[name].check, request.resolve)) for name in concerned)
    return Plan(
        entries=(*writes, *removes),
        folders=request.missing if writes else (),
        steps=(*plan_stops(request), *plan_activations(request, chosen)),
        checks=tuple((name, check) for name, check in checks if check),
    )


def _choose(request: Request, mended: Iterable[str]) -> Activations:
    here, wanted = request.new.running, effective_actions(request)
    concerns = [pair for path in mended for pair in request.new.meant[path].concerns.items()]
    if request.new.state == RETIRED:
        return choose_activations({}, (), ())
    # What no longer runs owes nothing; what owes its stop, and is to run now, may have other files.
    owed = (one for one in request.owed if one.name in here)
    concerns += [(one.name, RELOAD if one.kind == RELOAD else RESTART) for one in owed]
    restart = {*wanted.restart, *(name for name, way in concerns if way == RESTART)}
    reload = {*wanted.reload, *(name for name, way in concerns if way == RELOAD)}
    unknown = sorted((restart | reload) - set(here))
    if unknown:
        raise PackageError(f"The subsystem {unknown[0]!r} is to be activated and is not in the package.")
    return choose_activations(here, restart, reload)


# Room on the disk.

_STATE_FILES = 64
"""Journal, records, folders: generously."""


class Need:
    """What one file system must have left: `blocks` of `free`, `files` of `free_files` (None: no limit).

    `sample` is a folder of it, `block` the size of a block in bytes.
    """

    def __init__(self, sample: str, block: int, free: int, free_files: int | None) -> None:
        self.sample = sample
        self.block = block
        self.free = free
        self.free_files = free_files
        self.blocks = 0
        self.files = 0

    def add(self, size: int) -> None:
        """One more file."""
        self.blocks += -(-size // self.block) + 1
        self.files += 1


def check_space(store: Store, plan: Plan, package: Package, old: Package | None) -> None:
    """Raise NoRoom where bytes or files are short, with both figures."""
    needs: dict[int, Need] = {}
    own = _need(store.disk, needs, store.at, "the state folder")
    own.files += _STATE_FILES
    own.blocks += _STATE_FILES
    sizes = [file.size for path, file in package.meant.items()]
    sizes += [2 * sum(sizes)]
    sizes += [file.size for path, file in (old.meant if old else {}).items()]
    sizes += [entry.before.size for entry in plan.entries if entry.before.kind != ABSENT]
    for size in sizes:
        own.add(size)
    for entry in plan.entries:
        if entry.after.kind != ABSENT:
            _need_of_path(store.tree, entry.path, needs).add(entry.after.size)
    _check_needs(needs.values())


def _need_of_path(tree: Tree, path: str, needs: dict[int, Need]) -> Need:
    """Return the need of the file system that a file will be on, by its nearest folder that is there."""
    inside = ["", *folders_of(path)]
    missing = tree.missing_folders([path])
    folder = inside[-1 - len(missing)]
    with tree.folder(folder) as at:
        return _need(tree.disk, needs, at, folder or "/")


def _need(disk: Disk, needs: dict[int, Need], at: int, sample: str) -> Need:
    device = disk.device(at)
    if device not in needs:
        found = disk.space(at)
        files = found.f_favail if found.f_files else None
        needs[device] = Need(sample, found.f_frsize or 4096, found.f_bavail, files)
    return needs[device]


def _check_needs(needs: Iterable[Need]) -> None:
    for need in needs:
        if need.blocks > need.free:
            wanted, left = need.blocks * need.block >> 10, need.free * need.block >> 10
            raise NoRoom(
                f"The file system of {need.sample} has {left} KiB left, and {wanted} KiB are needed.",
                "Make room there.",
            )
        if need.free_files is not None and need.files > need.free_files:
            raise NoRoom(
                f"The file system of {need.sample} has room for {need.free_files} more files, "
                f"and {need.files} are needed.",
                "Remove files there.",
            )
