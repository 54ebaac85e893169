"""What nodes show after a change: where the nodes that showed a thing have changed, others are looked for."""

from collections.abc import Iterator, Mapping, Set

import msgspec

from gitcfg.check.traces import Idle, Traces, file_of
from gitcfg.check.tracing import Tracing
from gitcfg.compile.concerned import Version, concerned_by, installed_by_rules, leading, lists
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Roster

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
    model = now.model
    having = concerned_by((f"secrets/{name}.yaml" for name in lost.secrets), (now,))
    if having is None:
        yield from roster.names()
        return
    features = leading(model, lost.features | {name for kind, name in named if kind == "features"})
    groups = set(lost.groups | {name for kind, name in named if kind == "groups"})
    groups |= {name for name, group in model.groups.items() if lists(group.features, features)}
    if model.settings.default_group in groups or installed_by_rules(model, features):
        yield from roster.names()
        return
    said = now.mentions()
    found = set(having)
    found |= {name for group in groups for name in said.groups.get(group, ())}
    found.update(name for feature in features for name in said.features.get(feature, ()))
    for kind, name in named:
        found.update(model.nodesets[name].members if kind == "nodesets" else ())
    yield from sorted(found)
