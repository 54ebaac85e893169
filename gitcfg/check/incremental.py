"""Checks after a change: what the last check found is taken over where nothing can have changed."""

from collections.abc import Iterable, Iterator, Mapping, Set, Sized
from datetime import date
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from gitcfg.cache import Cache, NoCache
from gitcfg.check.base import bound_names
from gitcfg.check.files import params_read
from gitcfg.check.results import FILES, PLACES, Checked, as_told, checked, question, same_nodes
from gitcfg.check.rules.ledger import Ledger, TakenOver
from gitcfg.check.run import Examined, examine
from gitcfg.check.structure import needs_of
from gitcfg.check.target_parsers import Judge
from gitcfg.check.unused import Idle, Traces, Tracing, file_of
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.impact import Version, find_bearers, find_collecting_nodes, find_nodes_made_from
from gitcfg.compile.nodes import Roster
from gitcfg.compile.selection import Stopped
from gitcfg.compile.subset import Part, limit_nodesets, narrow_model
from gitcfg.git.tree import Entry, Tree, fingerprint
from gitcfg.load.repository import is_repository
from gitcfg.model import Finding, Model, Settings
from gitcfg.model.graph import reach, reverse
from gitcfg.model.names import FOLDERS, SETTINGS

if TYPE_CHECKING:
    from gitcfg.render.templates import TemplateEngine

_BATCH = 32  # nodes between two looks at whether more are needed


class Looked(msgspec.Struct, frozen=True):
    """What was looked at after a change: a fleet of the nodes `names`, and what these show.

    `changed` are the paths that did; whoever is made from them is among the names.
    """

    fleet: Fleet
    names: Set[str]
    changed: Set[str]
    traces: Traces


class _Lost(msgspec.Struct, frozen=True):
    """What was shown by a node that has changed, and is by none that is known now."""

    features: frozenset[str]
    groups: frozenset[str]
    secrets: frozenset[str]
    won: frozenset[str]
    busy: frozenset[str]

    def found(self, traces: Traces) -> bool:
        """Is all of it shown after all?"""
        return (
            self.features <= traces.features.keys()
            and self.groups <= traces.groups.keys()
            and self.secrets <= traces.secrets.keys()
            and self.won <= traces.won.keys()
            and self.busy <= traces.busy.keys()
        )


def witnessed(prior: Traces, looked: Looked, now: Version, roster: Roster) -> Traces:
    """What all nodes show. What stands in changed files only those show that were looked at."""
    traces = _merged(prior, looked)
    lost = _Lost(
        frozenset(prior.features.keys() - traces.features.keys()),
        frozenset(prior.groups.keys() - traces.groups.keys()),
        frozenset(prior.secrets.keys() - traces.secrets.keys()),
        frozenset(key for key in prior.won.keys() - traces.won.keys() if file_of(key) not in looked.changed),
        frozenset(
            key for key in prior.busy.keys() - traces.busy.keys() if file_of(key) not in looked.changed
        ),
    )
    if lost.found(traces):
        return traces
    others = _search(lost, looked, now, roster)
    return Traces(
        {**others.features, **traces.features},
        {**others.groups, **traces.groups},
        {**others.secrets, **traces.secrets},
        {**others.won, **traces.won},
        {**others.busy, **traces.busy},
        traces.idle,
        traces.own,
    )


def _merged(prior: Traces, looked: Looked) -> Traces:
    """What those nodes showed that have not changed, and what those show that were looked at."""
    names, after = looked.names, looked.traces
    own = [found for found in prior.own if stem(found.origins[0].file) not in names]
    return Traces(
        {**after.features, **_others(prior.features, names)},
        {**after.groups, **_others(prior.groups, names)},
        {**after.secrets, **_others(prior.secrets, names)},
        {**after.won, **_others(prior.won, names)},
        {**after.busy, **_others(prior.busy, names)},
        _idle(prior.idle, after.idle, names),
        [*own, *after.own],
    )


def stem(path: str) -> str:
    """The name of what a file defines."""
    return path.rpartition("/")[2].removesuffix(".yaml")


def _others(shown: Mapping[str, str], names: Set[str]) -> dict[str, str]:
    return {key: name for key, name in shown.items() if name not in names}


def _idle(before: Mapping[str, Idle], after: Mapping[str, Idle], names: Set[str]) -> dict[str, Idle]:
    result = dict(after)
    for key, idle in before.items():
        nodes = [name for name in idle.nodes if name not in names]
        if nodes:
            more = after[key].nodes if key in after else []
            result[key] = Idle(idle.code, idle.name, idle.origin, [*nodes, *more])
    return result


def _search(lost: _Lost, looked: Looked, now: Version, roster: Roster) -> Traces:
    """What other nodes show that have what is lost, until all of it is found or all were asked."""
    fleet = looked.fleet
    tracing = Tracing(fleet, fleet.surfaces)
    waiting = (name for name in _candidates(lost, now, roster) if name not in looked.names)
    for count, name in enumerate(waiting, 1):
        said = roster.said(name)
        # All nodes with overrides were looked at.
        kind = fleet.stacks.compile(said, (), fleet.brought(name, said, ()))
        kind.names.append(name)
        tracing.see(kind, fleet.surfaces.of(kind))
        if count % _BATCH == 0:
            tracing.end()
            if lost.found(tracing.traces):
                break
    tracing.end()
    return tracing.traces


def _candidates(lost: _Lost, now: Version, roster: Roster) -> Iterator[str]:
    """The nodes that may show what is lost, in order of name."""
    files = {file_of(key) for key in lost.won | lost.busy}
    named = {(file.partition("/")[0], stem(file)) for file in files}
    users = find_nodes_made_from((f"secrets/{name}.yaml" for name in lost.secrets), (now,))
    features = lost.features | {name for kind, name in named if kind == "features"}
    groups = lost.groups | {name for kind, name in named if kind == "groups"}
    bearers = find_bearers(now, features, groups)
    if users is None or bearers is None:
        yield from roster.names()
        return
    sets = (now.model.nodesets[name].members for kind, name in named if kind == "nodesets")
    yield from sorted(users.union(bearers, *sets))


# What an earlier check told that is still so, and whether that can be told without looking at all nodes.


def carried(told: list[Finding], changed: Set[str], names: Set[str]) -> list[Finding] | None:
    """What is still so of other nodes than these, and of their files; None: that cannot be told apart."""
    left = []
    for finding in told:
        if finding.nodes:
            nodes = tuple(name for name in finding.nodes if name not in names)
            if finding.code == "GC307" and nodes and nodes[0] != finding.nodes[0]:
                return None  # its hint names the first of them
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


def told_at(files: Set[str], told: list[Finding]) -> bool:
    """Was anything told of some files, whose lines may stand elsewhere now?"""
    return bool(files) and any(origin.file in files for one in told for origin in one.origins)


def as_before(before: Iterable[Finding], after: Iterable[Finding], changed: Set[str]) -> bool:
    """Is the same told of definitions as before, wherever nothing has changed?

    Else it follows from a node that was not looked at: only there is an instance, or a parameter bound.
    """
    old, new = ({one for one in told if _general(one, changed)} for told in (before, after))
    return old == new


def _general(finding: Finding, changed: Set[str]) -> bool:
    """Is a finding of no node, and nowhere in files that changed, or in nodes' own?"""
    files = {origin.file for origin in finding.origins}
    return not finding.nodes and files.isdisjoint(changed) and not any(map(_of_node, files))


def _of_node(file: str) -> bool:
    return file.startswith("nodes/")


def near(known: list[str], fleet: Fleet) -> bool:
    """Does a new name differ only in case from one that a node may bind that was not looked at?"""
    new = loose(fleet).difference(known)
    return not {name.casefold() for name in new}.isdisjoint(map(str.casefold, known))


def loose(fleet: Fleet) -> set[str]:
    """The names that are bound and not declared by themselves: so who else binds them matters."""
    return set(bound_names(fleet)) - fleet.model.parameters.keys()


# A check that takes over from an earlier one whatever a change cannot have touched.

# What these say may change, but not which of them there are.
_CONTENT = ("features", "groups", "subsystems", "secrets")
_READ = (*_CONTENT, "parameters", "overrides", "nodesets", "holds", "keys", "rules", "allocations")
_BESIDE = ("holds/", "keys/")  # what these say is judged anew each time, and concerns no configuration
_SEALED = ".age"  # ... so is what secrets hold
_SETTINGS = frozenset((SETTINGS,))
_SHARE = 4  # with more than one node in so many concerned it is as quick to look at all

Places = dict[str, tuple[str, str]]
NOBODY = frozenset[str]()


class State(msgspec.Struct, frozen=True):
    """What a check leaves for the next one: what stood where, what was told, and what nodes show.

    `implied` are the types that operations imply of parameters without a type, and `untyped` the files that
    bind such. `loose` are the names that are bound and not declared by themselves. `unjudged` are the files
    with entries whose target's parser is not installed. `ledger` is what rules saw; None: something was wrong
    with them. `read` are the parameters that serve rules and other nodes. `settings` are those that concern
    more than what is told: `ignore` is not among them.
    """

    places: Places
    told: list[Finding]
    parsed: list[Finding]
    traces: Traces
    implied: dict[str, str]
    untyped: list[str]
    loose: list[str]
    unjudged: frozenset[str]
    ledger: Ledger | None
    read: frozenset[str] | None
    settings: Settings


class Again(msgspec.Struct, frozen=True):
    """What was examined, and the fleet of those nodes that were looked at."""

    fleet: Fleet
    examined: Examined


def state(fleet: Fleet, places: Places, examined: Examined, prior: State | None) -> State | None:
    """What may be taken over the next time; None: nothing, for what is wrong may lie in any node.

    `places` is what stands where, and `prior` what was taken over this time.
    """
    if fleet.model.unread or examined.traces is None:
        return None
    if any(finding.code == "GC208" for finding in examined.told):
        return None
    implied, untyped = (prior.implied, prior.untyped) if prior else _untyped(fleet)
    ledger = examined.ruling.ledger() if examined.ruling else None
    names = sorted(loose(fleet).union(prior.loose if prior else ()))
    return State(
        places,
        examined.told,
        examined.parsed,
        examined.traces,
        implied,
        untyped,
        names,
        examined.unjudged,
        ledger,
        params_read(fleet),
        _lasting(fleet.model),
    )


def _untyped(fleet: Fleet) -> tuple[dict[str, str], list[str]]:
    """What is implied of parameters without a type, and where they are bound."""
    typed = fleet.declarations.typed
    implied = {name: kind for name, kind in fleet.declarations.implied.items() if not typed(name)}
    wanting = {name for name in fleet.bindings.names if not typed(name)}
    files = (
        {bound.origin.file for name, bound in fleet.bindings.written if name in wanting} if wanting else ()
    )
    return implied, sorted(files)


def places_of(tree: Tree) -> Places:
    """Everything in a tree that matters, by path: its id, and what it is."""
    return {entry.path: (entry.id, entry.kind.value) for entry in _entries(tree)}


def _entries(tree: Tree) -> Iterator[Entry]:
    yield from (entry for entry in map(tree.entry, FILES) if entry is not None)
    for place in FOLDERS:
        yield from tree.entries(place)


def again(
    prior: State, places: Places, now: Version, roster: Roster, today: date, judge: Judge | None
) -> Again | None:
    """What examining everything would give; None: so much may have changed that everything must be."""
    if prior.ledger is None:
        return None  # something is wrong with rules: who has part in it is not known
    changed = frozenset(path for path, _ in prior.places.items() ^ places.items())
    conditional = any(hold.members is None for hold in now.model.holds.values())
    stuck = conditional or not changed.isdisjoint(prior.untyped)
    allocated = frozenset(path for path in changed if path.startswith("allocations/"))
    stuck = stuck or told_at(allocated, [*prior.told, *prior.parsed])
    anew = _decided_anew(prior.ledger, now.model) if allocated and not stuck else NOBODY
    both = prior.places.keys() & places.keys()
    aside = allocated | (_SETTINGS if prior.settings == _lasting(now.model) else NOBODY)
    names = None if stuck else _concerned(changed - aside, both, now, roster, anew)
    if names is None:
        return None
    told, parsed = carried(prior.told, changed, names), carried(prior.parsed, changed, names)
    if told is None or parsed is None:
        return None
    fleet = Fleet(_narrow(now.model, names), now.tree, today, prior.implied)
    if fleet.model.unread or not _declared(fleet) or params_read(fleet) != prior.read:
        return None
    ledger = _ruled(prior.ledger, fleet, names)
    if ledger is None:
        return None
    examined = examine(fleet, None, judge, TakenOver(ledger))
    if examined.traces is None or any(finding.code == "GC208" for finding in examined.told):
        return None
    before, after = [*prior.told, *prior.parsed], [*examined.told, *examined.parsed]
    if not as_before(before, after, changed) or near(prior.loose, fleet):
        return None
    for nodeset in fleet.model.nodesets.values():
        fleet.layers.steps(nodeset.definition.params)  # what does not fit there is no idle setting
    looked = Looked(fleet, names, changed, examined.traces)
    traces = witnessed(prior.traces, looked, now, roster)
    unjudged = (prior.unjudged - changed) | examined.unjudged
    told, parsed = [*told, *examined.told], [*parsed, *examined.parsed]
    return Again(fleet, Examined(told, traces, parsed, examined.ruling, unjudged))


def _lasting(model: Model) -> Settings:
    return replace(model.settings, ignore=())


def _decided_anew(before: Ledger, model: Model) -> Set[str]:
    """The nodes about which allocations say something else."""
    from gitcfg.check.rules.ledger import touched

    return touched(before, model.allocations)


def _ruled(before: Ledger, fleet: Fleet, names: Set[str]) -> Ledger | None:
    """What rules saw, if they hold after a change of some nodes; without rules nothing."""
    if fleet.bringing is None:
        return None if fleet.model.allocations else before  # which are for no rule
    from gitcfg.check.rules.run import still

    try:
        return still(before, fleet, fleet.bringing, names)
    except Stopped:
        return None


def _concerned(
    changed: Set[str], both: Set[str], now: Version, roster: Roster, anew: Set[str]
) -> frozenset[str] | None:
    """The nodes to be looked at, those that are gone and those to whom rules bring `anew` among them.

    None: all.
    """
    changed = frozenset(path for path in changed if not _beside(path))
    nodes = {path for path in changed if path.startswith("nodes/")}
    if any(path.partition("/")[0] not in _CONTENT or path not in both for path in changed - nodes):
        return None
    found = find_nodes_made_from(changed | _needing(now.model, changed), (now,))
    overrides = now.model.overrides.values()
    if found is None or any(override.members is None for override in overrides):
        return None
    if find_collecting_nodes(now.model.nodes):  # from nodes that would not be there
        return None
    names = found.union(map(stem, nodes), anew, *(override.members or () for override in overrides))
    if len(names) > (len(now.model.nodes) + len(roster.sets)) // _SHARE:
        return None
    some = any(name in roster for name in names)  # a fleet without nodes is judged otherwise
    return names if some else names.union(islice(chain(now.model.nodes, roster.sets), 1))


def _beside(path: str) -> bool:
    return path.startswith(_BESIDE) or (path.startswith("secrets/") and path.endswith(_SEALED))


def _needing(model: Model, changed: Set[str]) -> frozenset[str]:
    """The files of features that need one that changed: what it depends on may be missing on their nodes."""
    names = {stem(path) for path in changed if path.startswith("features/")} & model.features.keys()
    needing = reach(reverse(needs_of(model))).closed(names) if names else frozenset()
    return frozenset(f"features/{name}.yaml" for name in needing)


def _declared(fleet: Fleet) -> bool:
    """Is everything declared that is bound? Else what is meant may follow from any node."""
    find = fleet.declarations.find
    return all(find(name) is not None for name in bound_names(fleet))


def _narrow(model: Model, names: Set[str]) -> Model:
    """A model with all definitions, but of nodes only these."""
    for kind in _READ:
        for _ in getattr(model, kind).values():
            """Reading it says what is wrong with it."""
    nodes = Part(model.nodes, names)
    for name in nodes:
        nodes[name]
    return narrow_model(model, nodes=nodes, nodesets=limit_nodesets(model.nodesets, names))


# Checks whose answers are kept: the same question is answered once, and a new one from the last answer.


class Subject(Sized, Protocol):
    """What is checked, each part of it made when it is asked for. Its length is its number of nodes."""

    @property
    def model(self) -> Model: ...

    @property
    def roster(self) -> "Roster": ...

    @property
    def version(self) -> "Version": ...

    @property
    def compiled(self) -> "Fleet": ...

    @property
    def engine(self) -> "TemplateEngine": ...

    def is_compiled(self) -> bool:
        """Is everything compiled already, so that looking at all of it costs little more?"""
        ...


class Checks:
    """Checks of one tree. `before` is what was there before, for nodes that are gone.

    What the tree says is handed in with each question: it keeps these, so that they do not keep it.
    """

    def __init__(self, tree: Tree, before: Tree | None, today: date, cache: Cache) -> None:
        self._tree = tree
        self._before = before
        self._today = today
        self._cache = cache

    def checked(self, subject: Subject, judged_by: str = "", judge: "Judge | None" = None) -> Checked:
        """The findings; `judged_by` names the judge and all that its verdicts depend on."""
        known = self.known(judged_by)
        if known is not None:
            return known
        return as_told(self._check(subject, judged_by, judge), self._today, bool(judged_by))

    def known(self, judged_by: str) -> Checked | None:
        """Return what is kept of such a check; None: it has to be made."""
        found = self._cache.get(self._question(judged_by), Checked)
        return as_told(found, self._today, bool(judged_by)) if found is not None else None

    def _question(self, judged_by: str) -> str:
        return question(self._tree, self._earlier, self._today, judged_by)

    def _check(self, subject: Subject, judged_by: str, judge: "Judge | None") -> Checked:
        """Check what changed since the last check, or everything."""
        from gitcfg.check.run import concluded, examine

        last = f"state 7 {judged_by}"
        prior = None if subject.is_compiled() else self._cache.get(last, State)
        places = places_of(self._tree)
        taken = again(prior, places, subject.version, subject.roster, self._today, judge) if prior else None
        fleet = taken.fleet if taken else subject.compiled
        examined = taken.examined if taken else examine(fleet, subject.engine, judge)
        found = concluded(fleet, examined, self._previous(), subject.roster)
        if not isinstance(self._cache, NoCache) and examined.traces is not None:
            if taken is None:
                subject.version.mentions()  # all nodes are known now; the next change asks who mentions what
            left = state(fleet, places, examined, prior if taken else None)
            if left is not None:
                self._cache.put(last, left)
                if left.untyped:
                    self._cache.put(self._implied, left.implied)
        return self._keep(subject, found, examined, judged_by)

    def _keep(
        self, subject: Subject, found: "list[Finding]", examined: "Examined", judged_by: str
    ) -> Checked:
        """Keep the answer, and with it what a check without parsers gives: all that none of them said."""
        from gitcfg.check.base import folded
        from gitcfg.check.results import with_causes

        model = subject.model
        alone = with_causes(model, folded(found))
        findings = with_causes(model, folded([*found, *examined.parsed])) if examined.parsed else alone
        answer = checked(subject.model, len(subject), findings, bool(examined.unjudged))
        self._cache.put(self._question(judged_by), answer)
        if judged_by:
            self._cache.put(self._question(""), checked(subject.model, len(subject), alone))
        return answer

    def implied(self) -> dict[str, str] | None:
        """The types that all definitions imply of parameters without one, if a check has found them."""
        return self._cache.get(self._implied, dict[str, str])

    @property
    def _implied(self) -> str:
        return f"implied 1 {fingerprint(self._tree, PLACES)}"

    @cached_property
    def _earlier(self) -> Tree | None:
        """What was there before, if nodes were that may be gone."""
        if self._before is None or not is_repository(self._before):
            return None
        return None if same_nodes(self._tree, self._before) else self._before

    def _previous(self) -> "Roster | None":
        """Who was there before, if any may be gone."""
        from gitcfg.compile.nodes import Roster
        from gitcfg.load.repository import load_nodes_only

        return None if self._earlier is None else Roster(load_nodes_only(self._earlier, self._cache))
