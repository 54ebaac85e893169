"""What can only be said of all nodes together: where nothing counts, each with a node as its witness."""

from collections.abc import Iterator

import msgspec

from gitcfg.check.fold import of
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Roster
from gitcfg.model import Binding, Feature, Finding, Group, Node, Op, Origin, Override


class Idle(msgspec.Struct):
    """Something that does nothing on some nodes: a `$remove` (GC508), or a `without` (GC505)."""

    code: str
    name: str
    origin: Origin
    nodes: list[str]


class Traces(msgspec.Struct):
    """What nodes show of the definitions that they have. A node is named for each, as a witness.

    `features`, `groups`, `secrets`: those that some node has. `won`: the bindings, by their places, that
    count in some node's final value. `busy`: the places of what does something on some node; `idle`: of what
    does nothing on some. `own`: findings about bindings of nodes' own files: the node itself is witness.
    """

    features: dict[str, str] = {}
    groups: dict[str, str] = {}
    secrets: dict[str, str] = {}
    won: dict[str, str] = {}
    busy: dict[str, str] = {}
    idle: dict[str, Idle] = {}
    own: list[Finding] = []


def place(name: str, origin: Origin) -> str:
    """What a place is known by."""
    return f"{name}\0{origin}"


def file_of(key: str) -> str:
    """The file of a place, given as itself or as a name at it."""
    return key.rpartition("\0")[2].rsplit(":", 2)[0]


def endings(fleet: Fleet, traces: Traces, roster: Roster) -> Iterator[Finding]:
    """GC501, GC502, GC505, GC508, GC512: what could be deleted without any node noticing.

    `roster` are all nodes; the fleet may have only some.
    """
    yield from _idle(traces)
    model = fleet.model
    if not (roster.model.nodes or roster.sets) or model.unread:
        return
    features = traces.features.keys() | frozenset[str]().union(*(kind.features for kind in fleet.walking_in))
    for name, feature in model.features.items():
        if name not in features:
            yield of("GC502", name, f"No node has the feature {name}.", [feature.origin])
    walk_in = (ref.name for ref in model.settings.walk_in or ())
    groups = {model.settings.default_group, *traces.groups, *walk_in}
    for name, group in model.groups.items():
        if name not in groups:
            yield of("GC502", name, f"No node is in the group {name}.", [group.origin])
    secrets = traces.secrets.keys() | {name for kind in fleet.walking_in for name in kind.secrets.values()}
    for name, secret in model.secrets.items():
        if name not in secrets:
            yield of("GC512", name, f"No node gets the secret {name}.", [secret.origin])
    for name, binding in _settings(fleet, traces, roster):
        if str(binding.origin) not in traces.won and counts(fleet, name, binding):
            yield idle_setting(name, binding)
    yield from traces.own


def _idle(traces: Traces) -> Iterator[Finding]:
    for key, idle in traces.idle.items():
        if key in traces.busy:
            continue
        if idle.code == "GC508":
            message = f"This $remove takes nothing away from {idle.name}."
        else:
            message = f"`without` {idle.name} changes nothing: nothing installs it."
        yield of(idle.code, idle.name, message, [idle.origin], idle.nodes)


def _settings(fleet: Fleet, traces: Traces, roster: Roster) -> Iterator[tuple[str, Binding]]:
    """The bindings that somebody should have; nodes' own are told with the node."""
    model = fleet.model
    layers: list[Feature | Group | Node | Override] = []
    layers += [feature for feature in model.features.values() if feature.name in traces.features]
    layers += [
        group
        for group in model.groups.values()
        if group.name in traces.groups or group.name == model.settings.default_group
    ]
    for nodeset in roster.model.nodesets.values():
        if nodeset.definition.params and any(not roster.said(name).retired for name in nodeset.members):
            layers.append(nodeset.definition)
    applied = {override.name for kind in fleet.classes for override in kind.overrides}
    layers += [override for override in model.overrides.values() if override.name in applied]
    return ((name, binding) for layer in layers for name, binding in layer.params.items())


def counts(fleet: Fleet, name: str, binding: Binding) -> bool:
    """Should a binding win somewhere? One to null without a default asks for a value; misfits are told."""
    if binding.origin in fleet.layers.misfits:
        return False
    return binding.op is not Op.NULL or fleet.declarations.has_default(name)


def idle_setting(name: str, binding: Binding) -> Finding:
    """GC501."""
    if binding.op is Op.DEFAULT:
        hint = "Lower layers give it a value everywhere. Delete it, or make it a plain value."
        return of("GC501", name, f"A $default of {name} applies on no node.", [binding.origin], hint=hint)
    hint = "Higher layers replace it everywhere. Delete it, or move it up."
    return of("GC501", name, f"A setting of {name} wins on no node.", [binding.origin], hint=hint)
