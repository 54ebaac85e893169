"""Checks after a change: findings of the last check are reused where nothing can have changed."""

from collections.abc import Iterable, Iterator, Mapping, Set, Sized
from datetime import date
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from gitcfg.cache import Cache, NoCache
from gitcfg.check.files import params_read
from gitcfg.check.findings import folded
from gitcfg.check.results import FILES, PLACES, WHO, Checked, as_reported, checked, question, with_causes
from gitcfg.check.rules.ruling import Ledger, ReusedRuling, Ruling, find_reallocated_nodes, follow_ledger
from gitcfg.check.run import Examined, concluded, examine
from gitcfg.check.structure import needs_of
from gitcfg.check.target_parsers import Judge
from gitcfg.check.usage import Idle, Usage, UsageWatch, file_of
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.impact import Version, find_bearers, find_collecting_nodes, find_nodes_using
from gitcfg.compile.nodes import Roster
from gitcfg.compile.selection import Stopped
from gitcfg.compile.subset import Part, limit_nodesets, narrow_model
from gitcfg.git.tree import Tree, changed_paths, fingerprint
from gitcfg.load.repository import is_repository, load_nodes_only
from gitcfg.model import Finding, Model, Settings
from gitcfg.model.graph import reach, reverse
from gitcfg.model.names import FOLDERS, SETTINGS

if TYPE_CHECKING:
    from gitcfg.render.templates import TemplateEngine

_BATCH = 32  # nodes between two tests whether more are needed


class Sample(msgspec.Struct, frozen=True):
    """The nodes that were checked again after a change, as a fleet, and their usage.

    `changed` are the paths that differ; all nodes made from them are among `names`.
    """

    fleet: Fleet
    names: Set[str]
    changed: Set[str]
    usage: Usage


_SHOWN = ("features", "groups", "secrets", "won", "busy")
"""The parts of usage that have a witness for each name or place."""

_Lost = Mapping[str, Set[str]]
"""By part of usage, what only nodes that changed showed before, and no node is known to show now."""


def _is_shown(lost: _Lost, usage: Usage) -> bool:
    return all(names <= getattr(usage, kind).keys() for kind, names in lost.items())


def merge_usage(prior: Usage, sample: Sample, now: Version, roster: Roster) -> Usage:
    """Return the usage of all nodes, from the usage before and that of the sample."""
    usage = _replace_usage(prior, sample)
    lost: dict[str, Set[str]] = {
        kind: getattr(prior, kind).keys() - getattr(usage, kind).keys() for kind in _SHOWN
    }
    for kind in ("won", "busy"):
        lost[kind] = {key for key in lost[kind] if file_of(key) not in sample.changed}
    if _is_shown(lost, usage):
        return usage
    others = _search(lost, sample, now, roster)
    return replace(usage, **{kind: {**getattr(others, kind), **getattr(usage, kind)} for kind in _SHOWN})


def _replace_usage(prior: Usage, sample: Sample) -> Usage:
    """Return the usage before without the nodes of the sample, and that of the sample."""
    names, after = sample.names, sample.usage
    shown = {kind: {**getattr(after, kind), **_without(getattr(prior, kind), names)} for kind in _SHOWN}
    own = [found for found in prior.own if stem(found.origins[0].file) not in names]
    return replace(after, **shown, idle=_idle(prior.idle, after.idle, names), own=[*own, *after.own])


def stem(path: str) -> str:
    """Return the name of what a file defines."""
    return path.rpartition("/")[2].removesuffix(".yaml")


def _without(shown: Mapping[str, str], names: Set[str]) -> dict[str, str]:
    return {key: name for key, name in shown.items() if name not in names}


def _idle(before: Mapping[str, Idle], after: Mapping[str, Idle], names: Set[str]) -> dict[str, Idle]:
    result = dict(after)
    for key, idle in before.items():
        nodes = [name for name in idle.nodes if name not in names]
        if nodes:
            more = after[key].nodes if key in after else []
            result[key] = Idle(idle.code, idle.name, idle.origin, [*nodes, *more])
    return result


def _search(lost: _Lost, sample: Sample, now: Version, roster: Roster) -> Usage:
    """Return the usage of further nodes. They are searched until all that is lost is found."""
    fleet = sample.fleet
    watch = UsageWatch(fleet, fleet.surfaces)
    waiting = (name for name in _candidates(lost, now, roster) if name not in sample.names)
    for count, name in enumerate(waiting, 1):
        definition = roster.definition(name)
        # All nodes with overrides are in the sample.
        node_class = fleet.stacks.compile(definition, (), fleet.effects(name, definition, ()))
        node_class.names.append(name)
        watch.see(node_class, fleet.surfaces.of(node_class))
        if count % _BATCH == 0:
            watch.end()
            if _is_shown(lost, watch.usage):
                break
    watch.end()
    return watch.usage


def _candidates(lost: _Lost, now: Version, roster: Roster) -> Iterator[str]:
    """Yield the nodes that may show what is lost, in order of name."""
    files = {file_of(key) for key in lost["won"] | lost["busy"]}
    named = {(file.partition("/")[0], stem(file)) for file in files}
    users = find_nodes_using((f"secrets/{name}.yaml" for name in lost["secrets"]), (now,))
    features = lost["features"] | {name for kind, name in named if kind == "features"}
    groups = lost["groups"] | {name for kind, name in named if kind == "groups"}
    bearers = find_bearers(now, features, groups)
    if users is None or bearers is None:
        yield from roster.names()
        return
    sets = (now.model.nodesets[name].members for kind, name in named if kind == "nodesets")
    yield from sorted(users.union(bearers, *sets))


# Which earlier findings still hold, and whether that is known without a check of all nodes.


def select_lasting(told: list[Finding], changed: Set[str], names: Set[str]) -> list[Finding] | None:
    """Return the findings that still hold for other nodes and their files; None: they cannot be separated."""
    left = []
    for finding in told:
        if finding.nodes:
            nodes = tuple(name for name in finding.nodes if name not in names)
            if finding.code == "GC307" and nodes and nodes[0] != finding.nodes[0]:
                return None  # its hint names the first node
            left += [replace(finding, nodes=nodes)] if nodes else []
            continue
        files = {origin.file for origin in finding.origins}
        own = set(filter(_of_node, files))
        stale = {file for file in own if file in changed or stem(file) in names}
        if own and files.isdisjoint(changed) and not stale:
            left.append(finding)
        elif stale != own:
            return None
    return left


def are_about(files: Set[str], told: list[Finding]) -> bool:
    """Return whether findings refer to some files, whose lines may have moved."""
    return bool(files) and any(origin.file in files for one in told for origin in one.origins)


def agree(before: Iterable[Finding], after: Iterable[Finding], changed: Set[str]) -> bool:
    """Return whether the findings about unchanged definitions are the same as before.

    If not, they depend on nodes outside the sample, for example because only those have an instance or bind a
    parameter.
    """
    old, new = ({one for one in told if _general(one, changed)} for told in (before, after))
    return old == new


def _general(finding: Finding, changed: Set[str]) -> bool:
    """Return whether a finding has no nodes, and no places in changed files or in nodes' own files."""
    files = {origin.file for origin in finding.origins}
    return not finding.nodes and files.isdisjoint(changed) and not any(map(_of_node, files))


def _of_node(file: str) -> bool:
    return file.startswith("nodes/")


def clashes(known: list[str], fleet: Fleet) -> bool:
    """Return whether a new name differs only in case from one that nodes outside the sample may bind."""
    new = undeclared_names(fleet).difference(known)
    return not {name.casefold() for name in new}.isdisjoint(map(str.casefold, known))


def _bound_names(fleet: Fleet) -> Set[str]:
    """Return the parameters that nodes may bind."""
    made = (feature.params for feature in fleet.layers.instances)
    return frozenset([name for name, _ in fleet.bindings.named]).union(*made)


def undeclared_names(fleet: Fleet) -> set[str]:
    """Return the names that are bound but not declared: for these it matters where else they are bound."""
    return set(_bound_names(fleet)) - fleet.model.parameters.keys()


# A check that reuses the parts of the last one that a change cannot affect.

# The content of these may change, but the check is incremental only if none is added or removed.
_CONTENT = ("features", "groups", "subsystems", "secrets")
_READ = (*_CONTENT, "parameters", "overrides", "nodesets", "holds", "keys", "rules", "allocations")
_IRRELEVANT = ("holds/", "keys/")  # checked each time, and not part of what nodes get
_SEALED = ".age"  # likewise
_SETTINGS = frozenset((SETTINGS,))
_SHARE = 4  # if more than one node in this number is concerned, a check of all is as fast

Places = dict[str, tuple[str, str]]
NOBODY = frozenset[str]()


class State(msgspec.Struct, frozen=True):
    """What a check stores for the next one: the files, the findings, and the usage.

    `implied` are the types that operations imply for parameters without a type, and `untyped` the files that
    bind such parameters. `loose` are the names that are bound but not declared. `unjudged` are the files with
    entries whose target's parser is not installed. `ledger` is what rules counted; None if one is violated.
    `read` are the parameters that rules and other nodes use. `settings` has no `ignore`, which concerns only
    the output.
    """

    places: Places
    findings: list[Finding]
    parsed: list[Finding]
    usage: Usage
    implied: dict[str, str]
    untyped: list[str]
    loose: list[str]
    unjudged: frozenset[str]
    ledger: Ledger | None
    read: frozenset[str] | None
    settings: Settings


class Rechecked(msgspec.Struct, frozen=True):
    """The result of a check after a change, and the fleet of the nodes that were checked."""

    fleet: Fleet
    examined: Examined


def make_state(fleet: Fleet, places: Places, examined: Examined, prior: State | None) -> State | None:
    """Return what the next check may start from; None: nothing, because any node may have an error.

    `places` are the files of the tree, `prior` what this check started from.
    """
    if fleet.model.unread or examined.usage is None:
        return None
    if any(finding.code == "GC208" for finding in examined.findings):
        return None
    implied, untyped = (prior.implied, prior.untyped) if prior else _untyped(fleet)
    ledger = examined.ruling.ledger() if examined.ruling else None
    names = sorted(undeclared_names(fleet).union(prior.loose if prior else ()))
    return State(
        places,
        examined.findings,
        examined.parsed,
        examined.usage,
        implied,
        untyped,
        names,
        examined.unjudged,
        ledger,
        params_read(fleet),
        _without_ignores(fleet.model),
    )


def _untyped(fleet: Fleet) -> tuple[dict[str, str], list[str]]:
    """Return the types implied for parameters without one, and the files that bind them."""
    typed = fleet.declarations.typed
    implied = {name: kind for name, kind in fleet.declarations.implied.items() if not typed(name)}
    wanting = {name for name in fleet.bindings.names if not typed(name)}
    files = (
        {bound.origin.file for name, bound in fleet.bindings.written if name in wanting} if wanting else ()
    )
    return implied, sorted(files)


def places_of(tree: Tree) -> Places:
    """Return the id and kind of everything in a tree that matters, by path."""
    files = (entry for entry in map(tree.entry, FILES) if entry is not None)
    entries = chain(files, chain.from_iterable(map(tree.entries, FOLDERS)))
    return {entry.path: (entry.id, entry.kind.value) for entry in entries}


def recheck(
    prior: State, places: Places, now: Version, roster: Roster, today: date, judge: Judge | None
) -> Rechecked | None:
    """Return the result of a check of everything; None if everything must be checked."""
    if prior.ledger is None:
        return None  # a rule is violated, and it is not known by which nodes
    changed = frozenset(path for path, _ in prior.places.items() ^ places.items())
    conditional = any(hold.members is None for hold in now.model.holds.values())
    stuck = conditional or not changed.isdisjoint(prior.untyped)
    allocated = frozenset(path for path in changed if path.startswith("allocations/"))
    stuck = stuck or are_about(allocated, [*prior.findings, *prior.parsed])
    reallocated = NOBODY
    if allocated and not stuck:
        reallocated = frozenset(find_reallocated_nodes(prior.ledger, now.model.allocations))
    both = prior.places.keys() & places.keys()
    apart = allocated | (_SETTINGS if prior.settings == _without_ignores(now.model) else NOBODY)
    names = None if stuck else _find_concerned(changed - apart, both, now, roster, reallocated)
    if names is None:
        return None
    told, parsed = (
        select_lasting(prior.findings, changed, names),
        select_lasting(prior.parsed, changed, names),
    )
    if told is None or parsed is None:
        return None
    fleet = Fleet(_narrow(now.model, names), now.tree, today, prior.implied)
    if fleet.model.unread or not _is_declared(fleet) or params_read(fleet) != prior.read:
        return None
    ledger = _recheck_rules(prior.ledger, fleet, names)
    if ledger is None:
        return None
    examined = examine(fleet, None, judge, ReusedRuling(ledger))
    if examined.usage is None or any(finding.code == "GC208" for finding in examined.findings):
        return None
    before, after = [*prior.findings, *prior.parsed], [*examined.findings, *examined.parsed]
    if not agree(before, after, changed) or clashes(prior.loose, fleet):
        return None
    for nodeset in fleet.model.nodesets.values():
        fleet.layers.steps(nodeset.definition.params)  # `usage` needs the misfits that this finds
    sample = Sample(fleet, names, changed, examined.usage)
    usage = merge_usage(prior.usage, sample, now, roster)
    unjudged = (prior.unjudged - changed) | examined.unjudged
    told, parsed = [*told, *examined.findings], [*parsed, *examined.parsed]
    return Rechecked(fleet, Examined(told, usage, parsed, examined.ruling, unjudged))


def _without_ignores(model: Model) -> Settings:
    return replace(model.settings, ignore=())


def _recheck_rules(before: Ledger, fleet: Fleet, names: Set[str]) -> Ledger | None:
    """Return what rules count after a change of some nodes; None if they may be violated."""
    if fleet.rule_engine is None:
        return None if fleet.model.allocations else before  # allocations without a rule
    try:
        return follow_ledger(before, fleet, fleet.rule_engine, names)
    except Stopped:
        return None


def _find_concerned(
    changed: Set[str], both: Set[str], now: Version, roster: Roster, reallocated: Set[str]
) -> frozenset[str] | None:
    """Return the nodes to check, with those that are gone or `reallocated`; None: all."""
    changed = frozenset(path for path in changed if not _is_irrelevant(path))
    nodes = {path for path in changed if path.startswith("nodes/")}
    if any(path.partition("/")[0] not in _CONTENT or path not in both for path in changed - nodes):
        return None
    found = find_nodes_using(changed | _find_dependents(now.model, changed), (now,))
    overrides = now.model.overrides.values()
    if found is None or any(override.members is None for override in overrides):
        return None
    if find_collecting_nodes(now.model.nodes):  # from nodes outside the sample
        return None
    names = found.union(map(stem, nodes), reallocated, *(override.members or () for override in overrides))
    if len(names) > (len(now.model.nodes) + len(roster.sets)) // _SHARE:
        return None
    some = any(name in roster for name in names)  # a fleet without nodes is checked in another way
    return names if some else names.union(islice(chain(now.model.nodes, roster.sets), 1))


def _is_irrelevant(path: str) -> bool:
    return path.startswith(_IRRELEVANT) or (path.startswith("secrets/") and path.endswith(_SEALED))


def _find_dependents(model: Model, changed: Set[str]) -> frozenset[str]:
    """Return the files of features that depend on a changed one, and that may now lack a dependency."""
    names = {stem(path) for path in changed if path.startswith("features/")} & model.features.keys()
    needing = reach(reverse(needs_of(model))).closed(names) if names else frozenset()
    return frozenset(f"features/{name}.yaml" for name in needing)


def _is_declared(fleet: Fleet) -> bool:
    """Return whether all that is bound is declared; if not, its type may depend on any node."""
    find = fleet.declarations.find
    return all(find(name) is not None for name in _bound_names(fleet))


def _narrow(model: Model, names: Set[str]) -> Model:
    """Return a model with all definitions, but only these nodes."""
    for kind in _READ:
        for _ in getattr(model, kind).values():
            """The loop reads them, which collects their findings."""
    nodes = Part(model.nodes, names)
    for name in nodes:
        nodes[name]
    return narrow_model(model, nodes=nodes, nodesets=limit_nodesets(model.nodesets, names))


# Checks with a cache: a tree is checked once, and a changed tree starts from the last check.


class Subject(Sized, Protocol):
    """What is checked. Each part is made when it is needed; the length is the number of nodes."""

    @property
    def model(self) -> Model: ...

    @property
    def whole(self) -> bool:
        """Whether these are all nodes of the repository."""
        ...

    @property
    def roster(self) -> Roster: ...

    @property
    def version(self) -> Version: ...

    @property
    def compiled(self) -> Fleet: ...

    @property
    def engine(self) -> "TemplateEngine": ...

    def is_compiled(self) -> bool:
        """Return whether everything is compiled already, so that to check all of it costs little more."""
        ...


class Checks:
    """The checks of one tree. `before` is the previous tree, for nodes that are gone.

    Each call gets the subject as an argument. The subject refers to these checks, so they must not refer to
    it.
    """

    def __init__(self, tree: Tree, before: Tree | None, today: date, cache: Cache) -> None:
        self._tree = tree
        self._before = before
        self._today = today
        self._cache = cache

    def checked(self, subject: Subject, judged_by: str = "", judge: Judge | None = None) -> Checked:
        """Return the findings; `judged_by` names the judge and all that its verdicts depend on."""
        known = self.known(judged_by)
        if known is not None:
            return known
        return as_reported(self._check(subject, judged_by, judge), self._today, bool(judged_by))

    def known(self, judged_by: str) -> Checked | None:
        """Return the result of such a check from the cache, or None."""
        found = self._cache.get(self._question(judged_by), Checked)
        return as_reported(found, self._today, bool(judged_by)) if found is not None else None

    def _question(self, judged_by: str) -> str:
        return question(self._tree, self._earlier, self._today, judged_by)

    def _check(self, subject: Subject, judged_by: str, judge: Judge | None) -> Checked:
        """Check what has changed since the last check, or everything."""
        last = f"state 8 {judged_by}"
        prior = None if subject.is_compiled() else self._cache.get(last, State)
        places = places_of(self._tree)
        taken = recheck(prior, places, subject.version, subject.roster, self._today, judge) if prior else None
        fleet = taken.fleet if taken else subject.compiled
        ruling = None if subject.whole else Ruling(fleet, frozenset(fleet.names))
        examined = taken.examined if taken else examine(fleet, subject.engine, judge, ruling)
        before = None if self._earlier is None else Roster(load_nodes_only(self._earlier, self._cache))
        found = concluded(fleet, examined, before, subject.roster)
        if not isinstance(self._cache, NoCache) and examined.usage is not None:
            if taken is None:
                subject.version.mentions()  # for the next change, as all nodes are known now
            left = make_state(fleet, places, examined, prior if taken else None)
            if left is not None:
                self._cache.put(last, left)
                if left.untyped:
                    self._cache.put(self._implied, left.implied)
        return self._keep(subject, found, examined, judged_by)

    def _keep(self, subject: Subject, found: list[Finding], examined: Examined, judged_by: str) -> Checked:
        """Cache the result, and the one without the findings of parsers."""
        model = subject.model
        alone = with_causes(model, folded(found))
        findings = with_causes(model, folded([*found, *examined.parsed])) if examined.parsed else alone
        answer = checked(model, len(subject), findings, bool(examined.unjudged))
        self._cache.put(self._question(judged_by), answer)
        if judged_by:
            self._cache.put(self._question(""), checked(model, len(subject), alone))
        return answer

    def implied(self) -> dict[str, str] | None:
        """Return the types that all definitions imply, if a check has found them."""
        return self._cache.get(self._implied, dict[str, str])

    @property
    def _implied(self) -> str:
        return f"implied 1 {fingerprint(self._tree, PLACES)}"

    @cached_property
    def _earlier(self) -> Tree | None:
        """The previous tree, if its nodes may differ."""
        if self._before is None or not is_repository(self._before):
            return None
        return self._before if changed_paths(self._before, self._tree, WHO) else None
