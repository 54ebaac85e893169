"""A check that takes over from an earlier one whatever a change cannot have touched."""

from collections.abc import Iterator, Set
from datetime import date
from itertools import chain, islice

import msgspec
from msgspec.structs import replace

from gitcfg.check.carried import params_read
from gitcfg.check.checked import FILES
from gitcfg.check.judge import Judge
from gitcfg.check.places import bindings
from gitcfg.check.rules.ledger import Ledger, TakenOver
from gitcfg.check.run import Examined, examine
from gitcfg.check.still import as_before, carried, loose, near, told_at
from gitcfg.check.structure import needs_of
from gitcfg.check.traces import Traces
from gitcfg.check.witnesses import Looked, stem, witnessed
from gitcfg.compile.concerned import Version, concerned_by
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.mentions import collecting
from gitcfg.compile.nodes import Roster
from gitcfg.compile.part import Part, narrowed, only
from gitcfg.compile.stopped import Stopped
from gitcfg.git.tree import Entry, Tree
from gitcfg.model import Finding, Model, Settings
from gitcfg.model.folders import FOLDERS, SETTINGS
from gitcfg.model.graph import reach, reverse

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
    wanting = {name for name in {name for name, _ in fleet.bindings} if not typed(name)}
    files = {bound.origin.file for name, bound in fleet.bindings if name in wanting} if wanting else ()
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
    from gitcfg.check.rules.keeping import touched

    return touched(before, model.allocations)


def _ruled(before: Ledger, fleet: Fleet, names: Set[str]) -> Ledger | None:
    """What rules saw, if they hold after a change of some nodes; without rules nothing."""
    if fleet.bringing is None:
        return None if fleet.model.allocations else before  # which are for no rule
    from gitcfg.check.rules.judged import still

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
    found = concerned_by(changed | _needing(now.model, changed), (now,))
    overrides = now.model.overrides.values()
    if found is None or any(override.members is None for override in overrides):
        return None
    if collecting(now.model.nodes):  # from nodes that would not be there
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
    return all(find(name) is not None for name in {name for name, _ in bindings(fleet)})


def _narrow(model: Model, names: Set[str]) -> Model:
    """A model with all definitions, but of nodes only these."""
    for kind in _READ:
        for _ in getattr(model, kind).values():
            """Reading it says what is wrong with it."""
    nodes = Part(model.nodes, names)
    for name in nodes:
        nodes[name]
    return narrowed(model, nodes=nodes, nodesets=only(model.nodesets, names))
