"""A plan: what an installation will do, decided before anything is touched; its data, then its creation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Optional

from .disk import ABSENT, FILE, FOLDER, LARGEST, LINK, NOTHING, SPECIAL, Disk, FileState, Tree, intended_state
from .outcome import NoRoom, Obstacle, PackageError, Refused
from .package import RETIRED, Actions, Check, File, Package, Subsystem
from .policy import Policy, find_refusals, folders_of, matches
from .store import Store

RESTART, RELOAD, STOP = "restart", "reload", "stop"


class Debt(NamedTuple):
    """A pending action of the installed package's subsystem `name`: `kind` is restart, reload or stop.

    A stop is of a subsystem that the installed package does not have: `command` stops it.
    """

    name: str
    kind: str
    command: tuple[str, ...] = ()


class Activations(NamedTuple):
    """The chosen restarts and reloads. `covered` maps what is restarted to what its restart restarts too."""

    restart: tuple[str, ...]
    reload: tuple[str, ...]
    covered: Mapping[str, tuple[str, ...]]


def choose_activations(
    subsystems: Mapping[str, Subsystem], restart: Iterable[str], reload: Iterable[str]
) -> Activations:
    """Return what to run so that all of these are restarted or reloaded, in order of name.

    A subsystem without the one command uses the other; one without both runs nothing but its check. Of
    subsystems that cover each other, the first in order of name is restarted.
    """
    kinds = {**dict.fromkeys(reload, RELOAD), **dict.fromkeys(restart, RESTART)}
    for name in kinds:
        subsystem = subsystems[name]
        if bool(subsystem.restart) != bool(subsystem.reload):
            kinds[name] = RESTART if subsystem.restart else RELOAD
    restarts = sorted(name for name, kind in kinds.items() if kind == RESTART)
    reach = {name: _find_reached(subsystems, name) for name in subsystems}

    def is_restarted_by(name: str, other: str) -> bool:
        """Return whether another restart includes it; of two that include each other, the first one stays."""
        return name != other and name in reach[other] and (other < name or other not in reach[name])

    chosen = [name for name in restarts if not any(is_restarted_by(name, other) for other in restarts)]
    covered = {name: tuple(one for one in sorted(reach[name] - {name}) if one in kinds) for name in chosen}
    done = {one for names in covered.values() for one in names}
    reloads = sorted(name for name, kind in kinds.items() if kind == RELOAD and name not in done)
    return Activations(tuple(chosen), tuple(reloads), covered)


def _find_reached(subsystems: Mapping[str, Subsystem], start: str) -> frozenset[str]:
    """Return everything that a restart restarts, transitively."""
    reached = {start}
    todo = [start]
    while todo:
        covers = subsystems[todo.pop()].covers
        for other in subsystems.keys() - reached:
            if any(matches(f"/{glob}", f"/{other}") for glob in covers):
                reached.add(other)
                todo.append(other)
    return frozenset(reached)


class Entry(NamedTuple):
    """One path: its state before and after, and whether its content is foreign and must be kept."""

    path: str
    before: FileState
    after: FileState
    keep: bool = False


class Undo(NamedTuple):
    """How a subsystem uses the old files again: the first of `commands` after which all `checks` succeed.

    `required` is false if the subsystem was not known to work before; a failure is then only reported. `owes`
    is what stays pending if the undo fails.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    checks: tuple[Check, ...] = ()
    required: bool = True
    owes: tuple[Debt, ...] = ()


class Step(NamedTuple):
    """A subsystem's command: `kind` is stop, restart or reload; `early` steps run before the file swap."""

    kind: str
    name: str
    command: tuple[str, ...]
    early: bool
    undo: Undo

    @property
    def title(self) -> str:
        """The name of the step in outcomes and for listeners."""
        return f"{self.kind} {self.name}"


class Plan(NamedTuple):
    """What an installation will do. `folders` are created, outermost first; `checks` run at the end."""

    entries: tuple[Entry, ...] = ()
    folders: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    checks: tuple[tuple[str, Check], ...] = ()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self.entries and not self.steps and not self.checks

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that are written."""
        return tuple(entry.path for entry in self.entries if entry.after.kind != ABSENT)

    @property
    def removed(self) -> tuple[str, ...]:
        """The files that are removed."""
        return tuple(entry.path for entry in self.entries if entry.after.kind == ABSENT)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain data."""
    return {
        "entries": [
            {**one._asdict(), "before": one.before._asdict(), "after": one.after._asdict()}
            for one in plan.entries
        ],
        "folders": list(plan.folders),
        "steps": [_step_to_json(step) for step in plan.steps],
        "checks": [[name, check._asdict()] for name, check in plan.checks],
    }


def _step_to_json(step: Step) -> dict[str, Any]:
    undo = step.undo._asdict()
    undo.update({key: [one._asdict() for one in undo[key]] for key in ("checks", "owes")})
    return {**step._asdict(), "undo": undo}


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """Return the plan of plain data that this version wrote."""
    return Plan(
        entries=tuple(
            Entry(one["path"], FileState(**one["before"]), FileState(**one["after"]), one["keep"])
            for one in data["entries"]
        ),
        folders=tuple(data["folders"]),
        steps=tuple(map(_step_from_json, data["steps"])),
        checks=tuple((name, _check_from_json(check)) for name, check in data["checks"]),
    )


def names_by_action(steps: tuple[Step, ...]) -> dict[str, Any]:
    """Return the names of what steps restarted, reloaded and stopped, as fields of an outcome."""
    kinds = {"restarted": RESTART, "reloaded": RELOAD, "stopped": STOP}
    return {key: tuple(step.name for step in steps if step.kind == kind) for key, kind in kinds.items()}


def _step_from_json(data: Mapping[str, Any]) -> Step:
    way_back = data["undo"]
    undo = Undo(
        tuple(map(tuple, way_back["commands"])),
        tuple(map(_check_from_json, way_back["checks"])),
        way_back["required"],
        tuple(Debt(one["name"], one["kind"], tuple(one["command"])) for one in way_back.get("owes", ())),
    )
    return Step(data["kind"], data["name"], tuple(data["command"]), data["early"], undo)


def _check_from_json(data: Mapping[str, Any]) -> Check:
    return Check(tuple(data["run"]), data["timeout"], data["retries"])


# Creation of a plan. Pure, except for the space on the disk.

Resolve = Callable[[tuple[str, ...]], Optional[tuple[str, ...]]]


class PlanRequest(NamedTuple):
    """The input of a plan: the installed package (None if unknown), the new one, and the actions.

    `states` has every path of both. `owners` has the numbers of owners and groups by name. `resolve` returns
    a command as this node runs it, or None if its policy does not allow that: on the way forward such a
    command was refused before, in a rollback (an older policy allowed it) it is left out. `spared` files stay
    as they are: their content is secret, and unknown here. `owed` are the actions that are pending since an
    earlier rollback failed.
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
    """Return all paths that an installation may touch."""
    return tuple(sorted({*new.meant, *(old.meant if old else ())}))


def effective_actions(request: PlanRequest) -> Actions:
    """Return the required actions; none if the installed package is this very one."""
    old, new = request.old, request.new
    if old is not None and (old.commit, old.digest) == (new.commit, new.digest):
        return Actions()
    return request.actions


# Files.


def find_drifted(request: PlanRequest) -> tuple[str, ...]:
    """Return the paths whose state matches neither the installed nor the new package.

    Also return files whose secrets changed without a new version: the comparison of two commits does not show
    that.
    """
    drifted = []
    for path, new in request.new.meant.items():
        old = request.old.meant.get(path) if request.old else None
        if old is None or path in request.spared:
            continue
        intended = (_intended_state(request, old), _intended_state(request, new))
        is_new_secret = old.digest == new.digest and old.sha256 != new.sha256
        if request.states[path] not in intended or is_new_secret:
            drifted.append(path)
    return tuple(drifted)


def _intended_state(request: PlanRequest, file: File) -> FileState:
    return intended_state(file, request.owners[file.owner, file.group])


def plan_writes(request: PlanRequest) -> Iterable[Entry]:
    """Yield the files that differ from the new package."""
    for path, file in sorted(request.new.meant.items()):
        before, after = request.states[path], _intended_state(request, file)
        _check_replaceable(path, before)
        if before != after and path not in request.spared:
            if file.true_content is None and before.digest != file.sha256:
                raise Refused(
                    f"{path} contains secrets, and the package does not include its content.",
                    "Secrets come from the server: the node fetches them over TLS.",
                )
            yield Entry(path, before, after, _is_foreign(request, path, before, after))


def plan_removals(request: PlanRequest) -> Iterable[Entry]:
    """Yield the files that only the installed package has.

    A folder or device in the place of such a file is not from gitcfg, and stays.
    """
    if request.old is None:
        return
    for path in sorted(set(request.old.meant) - set(request.new.meant)):
        before = request.states[path]
        if before.kind in (FILE, LINK):
            _check_replaceable(path, before)
            yield Entry(path, before, NOTHING, _is_foreign(request, path, before, NOTHING))


def _check_replaceable(path: str, before: FileState) -> None:
    if before.kind in (FOLDER, SPECIAL):
        what = "A folder" if before.kind == FOLDER else "A device, pipe or socket"
        raise Obstacle(f"{what} is at {path}, where a file is expected.", "Move it to another place.")
    if before.kind == FILE and before.size > LARGEST:
        raise Obstacle(
            f"The file at {path} has {before.size >> 20} MiB, which is too large to back up.",
            "Move it to another place.",
        )


def _is_foreign(request: PlanRequest, path: str, before: FileState, after: FileState) -> bool:
    """Return whether content that belongs to neither package would be lost."""
    if before.kind == ABSENT or before.digest == after.digest:
        return False
    file = request.old.meant.get(path) if request.old else None
    return file is None or before.digest != _intended_state(request, file).digest


# Steps, and how they are undone.


def find_stopping(request: PlanRequest) -> tuple[Subsystem, ...]:
    """Return what must be stopped, by the commands of the installed package; all on a retired node."""
    old = request.old.running if request.old else {}
    names = old if request.new.state == RETIRED else effective_actions(request).stop
    stopping = (old[name] for name in sorted(set(names)) if name in old and name not in request.new.running)
    return tuple(one for one in stopping if one.stop)


def plan_stops(request: PlanRequest) -> Iterable[Step]:
    """Yield the stops. They run before the file swap: what is stopped may read its old files."""
    for old in find_stopping(request):
        command = request.resolve(old.stop)
        if command:
            owes = (Debt(old.name, RESTART),)
            undo = _make_undo(request.resolve, (old.restart or old.reload,), [old], owes)
            yield Step(STOP, old.name, command, True, undo)


def plan_activations(request: PlanRequest, chosen: Activations) -> list[Step]:
    """Return the restarts and reloads; those that use the old files come first.

    A subsystem that did not run on the node before has no old files to use.
    """
    steps = []
    before = request.old.running if request.old else {}
    kinds = [(RESTART, name) for name in chosen.restart] + [(RELOAD, name) for name in chosen.reload]
    for kind, name in kinds:
        subsystem = request.new.running[name]
        command = request.resolve(subsystem.restart if kind == RESTART else subsystem.reload)
        if command:
            undo = _plan_undo(request, kind, name, chosen.covered.get(name, ()))
            steps.append(Step(kind, name, command, subsystem.using == "old" and name in before, undo))
    return sorted(steps, key=lambda step: not step.early)


def _plan_undo(request: PlanRequest, kind: str, name: str, covered: tuple[str, ...]) -> Undo:
    """Return how a step is undone, by the installed package. A subsystem that it does not have is stopped.

    If there is no known package, the same command runs again with the old files, whether or not it succeeds.
    """
    old, new = request.old, request.new.subsystems[name]
    if old is None:
        way = new.restart if kind == RESTART else new.reload
        return _make_undo(request.resolve, (way,), (), (Debt(name, kind),), required=False)
    beside = [old.running[one] for one in covered if one in old.running]
    owes = tuple(Debt(one.name, RESTART) for one in beside)
    found = old.running.get(name)
    if found is None:
        stop = request.resolve(new.stop)
        own = (Debt(name, STOP, stop),) if stop else ()
        return _make_undo(request.resolve, (new.stop,), (), (*own, *owes), required=False)
    ways = (found.restart or found.reload,) if kind == RESTART else (found.reload, found.restart)
    owed = Debt(name, RESTART if all(ways) else kind)  # a restart that is used for a reload has failed too
    return _make_undo(request.resolve, ways, [found, *beside], (owed, *owes))


def _make_undo(
    resolve: Resolve,
    ways: Iterable[tuple[str, ...]],
    subsystems: Iterable[Subsystem],
    owes: tuple[Debt, ...],
    required: bool = True,
) -> Undo:
    commands = tuple(command for way in ways if (command := resolve(way)))
    checks = tuple(check for one in subsystems if (check := resolve_check(one.check, resolve)))
    return Undo(commands, checks, required, owes)


def resolve_check(check: Check | None, resolve: Resolve) -> Check | None:
    """Return a check as this node runs it; None if there is none, or the policy does not allow it."""
    run = resolve(check.run) if check else None
    return Check(run, check.timeout, check.retries) if check and run else None


# The whole plan.


def check_permitted(request: PlanRequest, policy: Policy, state: str) -> None:
    """Raise Refused if the policy forbids a path or a command; `state` is the path of the state folder."""
    commands = [command for found in request.new.running.values() for command in found.commands]
    commands += [found.stop for found in find_stopping(request)]
    refused = find_refusals(policy, touched_paths(request.old, request.new), commands, state)
    if refused:
        raise Refused("\n".join(refused))


def make_plan(request: PlanRequest) -> Plan:
    """Return the plan; raise Obstacle if something other than a file or link is at a path."""
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


def _choose(request: PlanRequest, mended: Iterable[str]) -> Activations:
    here, actions = request.new.running, effective_actions(request)
    concerns = [pair for path in mended for pair in request.new.meant[path].concerns.items()]
    if request.new.state == RETIRED:
        return choose_activations({}, (), ())
    # A subsystem that no longer runs has no pending actions; one whose stop is pending, and that must run
    # again, may have other files.
    owed = (one for one in request.owed if one.name in here)
    concerns += [(one.name, RELOAD if one.kind == RELOAD else RESTART) for one in owed]
    restart = {*actions.restart, *(name for name, way in concerns if way == RESTART)}
    reload = {*actions.reload, *(name for name, way in concerns if way == RELOAD)}
    unknown = sorted((restart | reload) - set(here))
    if unknown:
        raise PackageError(f"The subsystem {unknown[0]!r} must be activated but is not in the package.")
    return choose_activations(here, restart, reload)


# Room on the disk.

_STATE_FILES = 64
"""An ample estimate for the journal, the records and the folders."""


class Need:
    """What one file system needs: `blocks` of `free`, and `files` of `free_files` (None: no limit).

    `sample` is a folder on it, `block` the size of a block in bytes.
    """

    def __init__(self, sample: str, block: int, free: int, free_files: int | None) -> None:
        self.sample = sample
        self.block = block
        self.free = free
        self.free_files = free_files
        self.blocks = 0
        self.files = 0

    def add(self, size: int) -> None:
        """Add one file."""
        self.blocks += -(-size // self.block) + 1
        self.files += 1


def check_space(store: Store, plan: Plan, package: Package, old: Package | None) -> None:
    """Raise NoRoom, with both figures, if there are too few bytes or files."""
    needs: dict[int, Need] = {}
    own = _need(store.disk, needs, store.at, "the state folder")
    own.files += _STATE_FILES
    own.blocks += _STATE_FILES
    sizes = [file.size for file in package.meant.values()]
    sizes += [2 * sum(sizes)]
    sizes += [file.size for file in (old.meant if old else {}).values()]
    sizes += [entry.before.size for entry in plan.entries if entry.before.kind != ABSENT]
    for size in sizes:
        own.add(size)
    for entry in plan.entries:
        if entry.after.kind != ABSENT:
            _need_of_path(store.tree, entry.path, needs).add(entry.after.size)
    for need in needs.values():
        _check_need(need)


def _need_of_path(tree: Tree, path: str, needs: dict[int, Need]) -> Need:
    """Return the need of a file's future file system: that of the nearest folder that exists."""
    folder = ["", *folders_of(path)][-1 - len(tree.missing_folders([path]))]
    with tree.folder(folder) as at:
        return _need(tree.disk, needs, at, folder or "/")


def _need(disk: Disk, needs: dict[int, Need], at: int, sample: str) -> Need:
    device = disk.device(at)
    if device not in needs:
        found = disk.space(at)
        files = found.f_favail if found.f_files else None
        needs[device] = Need(sample, found.f_frsize or 4096, found.f_bavail, files)
    return needs[device]


def _check_need(need: Need) -> None:
    if need.blocks > need.free:
        needed, left = need.blocks * need.block >> 10, need.free * need.block >> 10
        raise NoRoom(
            f"{NoRoom.BEGINNING}{need.sample} has {left} KiB left but needs {needed} KiB.",
            "Free some space there.",
        )
    if need.free_files is not None and need.files > need.free_files:
        raise NoRoom(
            f"{NoRoom.BEGINNING}{need.sample} has room for {need.free_files} more files, "
            f"but needs {need.files}.",
            "Remove files there.",
        )
