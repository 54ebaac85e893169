"""Why a node has a feature, a file, a group or a value, or does not have it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING, TrailStep, identity, merge
from gitcfg.compile.values import Misfit
from gitcfg.explain.definition import Setting
from gitcfg.explain.kinds.layers import bound_anywhere, settings_of
from gitcfg.explain.rules import Passing, explain_passing, explain_setting, passing_record
from gitcfg.explain.trail import (
    Blamer,
    Mention,
    Place,
    Record,
    add_blame,
    decision_record,
    entry_record,
    find_file_mentions,
    find_mention,
    find_places,
    listed_features,
    nodes_record,
    origin_record,
    step_record,
    walk_layers,
)
from gitcfg.explain.values import find_value, require_parameter
from gitcfg.model import FileEntry, GitcfgError, Node, Op, Ref
from gitcfg.model.names import did_you_mean, shown
from gitcfg.render.files import mode_of, select_params
from gitcfg.render.templates import TemplateEngine

# Why a node has a feature, or does not have it.


class Removal(msgspec.Struct, frozen=True):
    """A `without`: the feature that it removes, and its place."""

    feature: str
    by: Mention


class RemovedLayer(msgspec.Struct, frozen=True):
    """A layer that a node would have, and each `without` that removes it or a layer that includes it."""

    place: Place
    removals: tuple[Removal, ...]


class FeatureAnswer(msgspec.Struct, frozen=True):
    """The answer about a feature: `places` are those on the node, `taken` those that `without` removes.

    `barred`: it is included, but only by includes that are ignored, because they are circular or too deep.
    `elsewhere` are the layers that install it on nodes, if none of them concerns this one, and `rules` are
    the rules that would install it but have no effect here.
    """

    name: str
    places: tuple[Place, ...]
    taken: tuple[RemovedLayer, ...]
    retired: bool
    barred: bool
    elsewhere: tuple[str, ...]
    rules: tuple[Passing, ...] = ()

    @property
    def has(self) -> bool:
        """Whether the node has the feature."""
        return bool(self.places)

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of its instances at all places."""
        return tuple(dict.fromkeys(name for place in self.places for name in place.instances))


def why_feature(fleet: Fleet, node: FleetNode, name: str) -> FeatureAnswer:
    """Return the places of a feature on a node. Raise GitcfgError if there is no such feature."""
    if name not in fleet.model.features:
        raise GitcfgError(f"There is no feature {shown(name)}.", did_you_mean(name, fleet.model.features))
    found = find_places(fleet, node.node_class, name)
    taken: tuple[RemovedLayer, ...] = ()
    if not node.definition.retired and node.node_class.without:
        taken = tuple(
            _find_removed(node, find_places(fleet, without_removals(fleet, node.node_class), name), name)
        )
    included = name in fleet.stacks.unfiltered(node.node_class)
    unconcerned = not (included or node.definition.retired)
    return FeatureAnswer(
        name,
        found,
        taken,
        node.definition.retired,
        barred=included and not (found or taken or node.definition.retired),
        elsewhere=tuple(_find_elsewhere(fleet, name)) if unconcerned else (),
        rules=explain_passing(fleet, node.name, name) if unconcerned else (),
    )


def without_removals(fleet: Fleet, kind: NodeClass) -> NodeClass:
    """Return the class as it would be without any `without`."""
    definition = msgspec.structs.replace(kind.definition, without=())
    overrides = tuple(msgspec.structs.replace(override, without=()) for override in kind.overrides)
    return fleet.stacks.compile(definition, overrides, kind.effects)


def find_removals(node: FleetNode, path: Iterable[str]) -> tuple[Removal, ...]:
    """Return the `without` entries that remove a layer with this path, or a layer that includes it."""
    layers = set(path)
    refs = [ref for ref in node.node_class.without if f"feature {ref.name}" in layers]
    return tuple(Removal(ref.name, find_mention(node, ref.origin)) for ref in refs)


def _find_removed(node: FleetNode, would_be: Iterable[Place], name: str) -> Iterator[RemovedLayer]:
    for place in would_be:
        found = find_removals(node, (f"feature {name}", *place.layers))
        if found:
            yield RemovedLayer(place, found)


def _find_elsewhere(fleet: Fleet, name: str) -> Iterator[str]:
    """Yield the layers that install a feature, except rules (see `explain_passing`)."""
    for label, definition in walk_layers(fleet.model):
        uses = listed_features(definition)
        if not label.startswith(("feature ", "rule ")) and name in fleet.layers.expanded(
            use.feature for use in uses
        ):
            yield label


# Which layer decides the content of a file on a node, or why the node does not have it.


class FileMention(msgspec.Struct, frozen=True):
    """A layer's entry for a file, with the layer's path, and the `without` entries that remove the layer."""

    entry: FileEntry
    path: tuple[str, ...]
    removals: tuple[Removal, ...] = ()


class FileAnswer(msgspec.Struct, frozen=True):
    """The answer about a file: `entries` are those of the node's layers, lowest first: the last one decides.

    `params` is the number of parameters that a format writes, None if there is no format. `taken` are entries
    of layers that `without` removes, `elsewhere` layers with the file, if it does not concern this node.
    """

    name: str
    entries: tuple[FileMention, ...]
    params: int | None
    taken: tuple[FileMention, ...]
    retired: bool
    elsewhere: tuple[str, ...]

    @property
    def deciding(self) -> FileMention | None:
        """The entry that wins; it may be one that removes the file."""
        return self.entries[-1] if self.entries else None

    @property
    def has(self) -> bool:
        """Whether the node has the file."""
        return self.deciding is not None and not self.deciding.entry.removed


def why_file(fleet: Fleet, node: FleetNode, path: str, engine: TemplateEngine) -> FileAnswer:
    """Return the entries for a file, each with the mode that it has on the node.

    Raise GitcfgError if no layer has such a file.
    """
    known = {known for layer in fleet.model.layers() for known in layer.files}
    if path not in known:
        near = did_you_mean(path, filter(str.isprintable, known))
        raise GitcfgError(f"No layer has a file {shown(path)}.", near)
    found = node.node_class.stack.entries(path)
    entries = tuple(FileMention(_set_mode(fleet, node, entry, engine), where) for entry, where in found)
    taken = _find_removed_entries(fleet, node, path, engine)
    deciding = entries[-1].entry if entries else None
    takes = deciding is not None and deciding.format is not None
    unconcerned = not (entries or taken or node.definition.retired)
    return FileAnswer(
        path,
        entries,
        len(select_params(fleet, deciding, node.params)) if deciding is not None and takes else None,
        taken,
        node.definition.retired,
        tuple(mention.layer for mention in find_file_mentions(fleet.model, path)) if unconcerned else (),
    )


def _set_mode(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> FileEntry:
    mode = mode_of(fleet, node, entry, engine)
    return entry if mode == entry.mode else msgspec.structs.replace(entry, mode=mode)


def _find_removed_entries(
    fleet: Fleet, node: FleetNode, path: str, engine: TemplateEngine
) -> tuple[FileMention, ...]:
    if node.definition.retired or not node.node_class.without:
        return ()
    would_be = FleetNode(node.name, without_removals(fleet, node.node_class), node.definition)
    found = [
        FileMention(_set_mode(fleet, would_be, entry, engine), where, find_removals(node, where))
        for entry, where in would_be.node_class.stack.entries(path)
    ]
    return tuple(mention for mention in found if mention.removals)


# Why a node is in a group, at which place among its groups, or why it is not.


class GroupAnswer(msgspec.Struct, frozen=True):
    """The answer about a group: `groups` are all of the node's, highest first, the default group last.

    `by` is the layer that lists the group. If the node's own list drops an entry of its set, `listed` is the
    set's entry, and `dropped` the node's, or its whole list if that replaces the set's (`replaced`).
    """

    name: str
    groups: tuple[str, ...]
    default: bool
    by: Mention | None
    listed: Mention | None
    dropped: Mention | None
    replaced: bool
    retired: bool

    @property
    def has(self) -> bool:
        """Whether the node is in the group."""
        return self.name in self.groups


def why_group(fleet: Fleet, node: FleetNode, name: str) -> GroupAnswer:
    """Return how a node is in a group. Raise GitcfgError if there is no such group."""
    default = fleet.model.settings.default_group
    if name not in fleet.model.groups and name != default:
        raise GitcfgError(f"There is no group {shown(name)}.", did_you_mean(name, fleet.model.groups))
    definition = node.definition
    found = next((ref for ref in definition.groups if ref.name == name), None)
    of_set = (
        _mention(f"node set {definition.nodeset.name}", definition.nodeset.definition, name)
        if definition.nodeset
        else None
    )
    return GroupAnswer(
        name,
        (*node.groups, default),
        name == default,
        _find_lister(node, found),
        of_set if found is None else None,
        _find_removal(definition.own, name) if found is None and of_set is not None else None,
        definition.own is not None and definition.own.groups.op is Op.SET,
        definition.retired,
    )


def _find_lister(node: FleetNode, found: Ref | None) -> Mention | None:
    """Return the layer of an entry in a list of groups: the node itself, or its set."""
    if found is None:
        return None
    own, nodeset = node.definition.own, node.definition.nodeset
    if own is not None and found in own.groups.items:
        return Mention(f"node {own.name}", found.origin)
    return Mention(f"node set {nodeset.name}", found.origin) if nodeset is not None else None


def _mention(label: str, definition: Node, name: str) -> Mention | None:
    found = [ref for ref in definition.groups.items if ref.name == name]
    return Mention(label, found[0].origin) if found and definition.groups.op is not Op.REMOVE else None


def _find_removal(own: Node | None, name: str) -> Mention | None:
    """Return where a node drops a group: its own list, or an entry under `$remove`."""
    if own is None or own.groups.origin is None:
        return None
    removed = [ref.origin for ref in own.groups.items if ref.name == name]
    return Mention(f"node {own.name}", removed[0] if removed else own.groups.origin)


# Why a node does not have a parameter, or has another value.


class Loss(msgspec.Struct, frozen=True):
    """A step after which the value was the wanted one, and the step of the same trail that changes it.

    `idle`: the step is a default without effect, because `by` set a value before.
    """

    step: TrailStep
    by: TrailStep
    idle: bool = False


class Source(msgspec.Struct, frozen=True):
    """A binding that does not reach the node, and why its feature, group or rule does not.

    A layer that concerns only other nodes has no `why`.
    """

    setting: Setting
    why: FeatureAnswer | GroupAnswer | Passing | None = None


class ParamAnswer(msgspec.Struct, frozen=True):
    """A parameter's value on a node (NOTHING if it is not bound), and the step that decides it.

    `wanted` is the value in the question, None for any; then `has` is whether the node has that, and
    `losses`, `sources` and `nodes` are of layers and nodes that have it. `default` is the value of a binding
    to null, NOTHING if there is none. `nodes` are those that bind the parameter.
    """

    name: str
    wanted: str | None
    has: bool
    value: Any
    deciding: TrailStep | None
    default: Any
    losses: tuple[Loss, ...]
    sources: tuple[Source, ...]
    nodes: tuple[str, ...]
    retired: bool


Answer = FeatureAnswer | FileAnswer | GroupAnswer | ParamAnswer


def why_not(fleet: Fleet, node: FleetNode, name: str, wanted: str | None = None) -> Iterator[Answer]:
    """Yield why a node does not have what this name means: a parameter, a feature, or one of each.

    `wanted` is a value, which only a parameter has. Raise GitcfgError if there is neither.
    """
    features = fleet.model.features if wanted is None else {}
    params = bound_anywhere(fleet)
    bound = name in params or fleet.declarations.find(name) is not None
    if not bound and name not in features:
        what = "parameter or feature" if wanted is None else "parameter"
        near = did_you_mean(name, filter(str.isprintable, {*params, *features}))
        other = "group" if name in fleet.model.groups else "file" if name.startswith("/") else ""
        raise GitcfgError(f"There is no {what} {shown(name)}.", f"Use `--{other}`." if other else near)
    if bound:
        yield why_param(fleet, node, name, wanted)
    if name in features:
        yield why_feature(fleet, node, name)


def why_param(fleet: Fleet, node: FleetNode, name: str, wanted: str | None = None) -> ParamAnswer:
    """Return which layers bind a parameter, to a wanted value if there is one, and why they have no effect.

    Raise GitcfgError if nothing declares or binds it.
    """
    require_parameter(fleet, name)
    declared = fleet.declarations.find(name)
    default = fleet.declarations.default(declared) if declared is not None else NOTHING
    accepts = _make_test(fleet, name, wanted)
    trail, value = node.trail(name), find_value(node.node_class, name)
    kinds = (kind for kind in fleet.classes if accepts(find_value(kind, name)))
    return ParamAnswer(
        name,
        wanted,
        accepts(value),
        value,
        node.deciding(name),
        default,
        _find_losses(trail, accepts),
        tuple(
            Source(setting, _explain_source(fleet, node, setting))
            for setting in _find_settings(fleet, name, trail)
            if wanted is None or accepts(_find_given(setting, default))
        ),
        tuple(sorted(name for kind in kinds for name in kind.names)),
        node.definition.retired,
    )


def _make_test(fleet: Fleet, name: str, wanted: str | None) -> Callable[[Any], bool]:
    """Return a test for a wanted value.

    It accepts an equal value, a list with all wanted items, or a map with the wanted keys and their values.
    """
    if wanted is None:
        return lambda value: value is not NOTHING
    try:
        given = msgspec.json.decode(wanted)
    except msgspec.DecodeError:
        given = wanted
    with suppress(Misfit):  # a value that does not fit its type may be wanted too
        given = fleet.declarations.value(name, given, wanted)
    known = identity(given)

    def accepts(value: Any) -> bool:
        if isinstance(value, list):
            items = given if isinstance(given, list) else [given]
            return {identity(item) for item in items} <= {identity(item) for item in value}
        if isinstance(value, dict) and isinstance(given, dict):
            return bool(identity(merge(value, given)) == identity(value))
        return value is not NOTHING and value is not None and bool(identity(value) == known)

    return accepts


def _find_losses(trail: Iterable[TrailStep], accepts: Callable[[Any], bool]) -> tuple[Loss, ...]:
    """Return the last step that leads to what is wanted, with the step that changes it again.

    Defaults that have no effect are included, each with the step below that set a value.
    """
    idle: list[Loss] = []
    lost: Loss | None = None
    giver: TrailStep | None = None
    below: TrailStep | None = None
    for step in trail:
        unused = step.op is Op.DEFAULT and step.overridden and below is not None and below.bound
        if step.bound and accepts(step.result):
            giver = giver or step
        elif giver is not None:
            lost, giver = Loss(giver, step), None
        elif unused and below is not None and accepts(step.given):
            idle.append(Loss(step, below, idle=True))
        below = below if unused else step
    if giver is not None:
        return ()
    return (*idle, lost) if lost is not None else tuple(idle)


def _find_settings(fleet: Fleet, name: str, trail: Iterable[TrailStep]) -> Iterator[Setting]:
    """Yield the bindings of a parameter that do not reach a node, and rules that leave its value open."""
    reached = {step.origin for step in trail}
    for setting in settings_of(fleet, {name}):
        if setting.op is not Op.UNSET and setting.origin not in reached:
            yield setting
    decided = {step.path[-1] for step in trail}
    for rule in fleet.model.rules.values():
        domain = rule.domains.get(name) if rule.over is None else None
        if domain is not None and f"allocation {rule.name}" not in decided:
            yield Setting(f"rule {rule.name}", name, Op.DEFAULT, None, domain.origin, (), True)


def _find_given(setting: Setting, default: Any) -> Any:
    """Return the value that a binding sets, NOTHING if it depends on the node."""
    if setting.op is Op.NULL:
        return default
    return NOTHING if setting.op in (Op.FACT, Op.SECRET, Op.COLLECT) else setting.given


def _explain_source(
    fleet: Fleet, node: FleetNode, setting: Setting
) -> FeatureAnswer | GroupAnswer | Passing | None:
    """Return why a binding of a layer does not reach a node; None if the layer concerns other nodes."""
    word, _, name = setting.layer.partition(" ")
    if node.definition.retired:
        return None
    if word == "feature":
        return why_feature(fleet, node, name)
    if word == "group":
        return why_group(fleet, node, name)
    if word == "rule":
        return explain_setting(fleet, node.name, fleet.model.rules[name], setting.origin)
    return None


# Answers as records for programs.


def why_record(
    commit: str | None, node: str, answers: Iterable[Answer], blamer: Blamer | None = None
) -> Record:
    """Return `gitcfg.why/1`: for each question whether the node has it, and why; with commits if asked."""
    writer = _Writer(blamer)
    return {
        "schema": "gitcfg.why/1",
        "commit": commit,
        "node": node,
        "answers": [writer.answer(answer) for answer in answers],
    }


class _Writer:
    """Writer of answers as records, with commits if there is a blamer."""

    def __init__(self, blamer: Blamer | None) -> None:
        self.blamer = blamer

    def answer(self, answer: Answer) -> Record:
        if isinstance(answer, ParamAnswer):
            return self._param(answer)
        if isinstance(answer, FeatureAnswer):
            return self._feature(answer)
        return self._file(answer) if isinstance(answer, FileAnswer) else self._group(answer)

    def _feature(self, answer: FeatureAnswer) -> Record:
        return {
            "kind": "feature",
            "name": answer.name,
            "has": answer.has,
            "retired": answer.retired,
            "instances": list(answer.instances),
            "places": [self._place(place) for place in answer.places],
            "taken": [
                {**self._place(taken.place), "without": self._removals(taken.removals)}
                for taken in answer.taken
            ],
            "barred": answer.barred,
            "elsewhere": list(answer.elsewhere),
            **({"rules": [passing_record(found) for found in answer.rules]} if answer.rules else {}),
        }

    def _place(self, place: Place) -> Record:
        mentions = zip(place.layers, place.origins, strict=True)
        layers = [self._mention(Mention(layer, origin)) for layer, origin in mentions]
        record = {"layers": layers, "instances": list(place.instances)}
        return {**record, "decided": decision_record(place.decided)} if place.decided else record

    def _mention(self, mention: Mention, blamed: bool = True) -> Record:
        record = {"layer": mention.layer, "origin": origin_record(mention.origin)}
        return add_blame(record, self.blamer if blamed else None, mention.layer, mention.origin)

    def _removals(self, removals: Iterable[Removal]) -> list[Record]:
        return [{"feature": removal.feature, **self._mention(removal.by)} for removal in removals]

    def _file(self, answer: FileAnswer) -> Record:
        deciding = answer.deciding
        return {
            "kind": "file",
            "name": answer.name,
            "has": answer.has,
            "retired": answer.retired,
            "params": answer.params,
            "entries": [
                {**self._entry(mention), "overridden": mention is not deciding} for mention in answer.entries
            ],
            "taken": [
                {**self._entry(taken), "without": self._removals(taken.removals)} for taken in answer.taken
            ],
            "elsewhere": list(answer.elsewhere),
        }

    def _entry(self, mention: FileMention) -> Record:
        origin = mention.entry.origin
        record = {"path": list(mention.path), "origin": origin_record(origin), **entry_record(mention.entry)}
        return add_blame(record, self.blamer, mention.path[0], origin)

    def _group(self, answer: GroupAnswer) -> Record:
        return {
            "kind": "group",
            "name": answer.name,
            "has": answer.has,
            "retired": answer.retired,
            "default": answer.default,
            "groups": list(answer.groups),
            "by": self._mention(answer.by) if answer.by else None,
            "listed": self._mention(answer.listed) if answer.listed else None,
            "dropped": self._mention(answer.dropped, not answer.replaced) if answer.dropped else None,
        }

    def _param(self, answer: ParamAnswer) -> Record:
        deciding = answer.deciding
        return {
            "kind": "parameter",
            "name": answer.name,
            **({} if answer.wanted is None else {"wanted": answer.wanted}),
            "has": answer.has,
            "retired": answer.retired,
            "bound": answer.value is not NOTHING,
            "value": _known(answer.value),
            "deciding": step_record(deciding, self.blamer) if deciding is not None else None,
            "lost": [
                {"step": step_record(loss.step, self.blamer), "by": step_record(loss.by, self.blamer)}
                for loss in answer.losses
            ],
            **absence_record(answer),
            "elsewhere": [self._source(source) for source in answer.sources],
        }

    def _source(self, source: Source) -> Record:
        record, why = _setting_record(source.setting), source.why
        if isinstance(why, FeatureAnswer):
            record["feature"] = self._feature(why)
        elif isinstance(why, GroupAnswer):
            record["group"] = self._group(why)
        elif isinstance(why, Passing):
            record["rule"] = passing_record(why)
        return record


def absence_record(answer: ParamAnswer) -> Record:
    """Return the default of a parameter that a node does not bind, the layers that bind it, and its nodes."""
    return {
        "default": _known(answer.default),
        "elsewhere": [_setting_record(source.setting) for source in answer.sources],
        "on": nodes_record(answer.nodes, folded=True),
    }


def _known(value: Any) -> Any:
    return None if value is NOTHING else value


def _setting_record(setting: Setting) -> Record:
    return {
        "layer": setting.layer,
        "op": str(setting.op.value),
        "given": setting.given,
        "origin": origin_record(setting.origin),
    }
