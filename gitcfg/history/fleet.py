"""The nodes of a commit by class: rules and overrides decide the class of a node.

Conditions of overrides are evaluated once for all nodes that look the same to them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gitcfg.cel import NODE_VARIABLES, CelProblem, Condition, compile_condition
from gitcfg.comparison.files import Side
from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass, Stacks
from gitcfg.compile.nodes import NodeDefinition, Roster, RuleEffects, RuleInstall, define_node
from gitcfg.compile.selection import NodeView, Stopped
from gitcfg.git.history import History
from gitcfg.git.objects import Objects
from gitcfg.git.tree import DictTree, Entry, EntryKind
from gitcfg.history.definitions import NOTHING, Ruling, declarations, parameters, ruling, secrets
from gitcfg.history.layers import ReusedLayers, ReusedStacks
from gitcfg.history.snapshot import Documents, Key, Pool, Snapshot, everything, model_of, update_pool
from gitcfg.model import Model, Node, NodeSet, Override, Parameter, Secret, Settings
from gitcfg.model.names import TEXTS
from gitcfg.render.templates import TemplateEngine, template_guard

if TYPE_CHECKING:
    from gitcfg.compile.rules.placement import RuleEngine

_KNOWN = {name: kind for name, kind in NODE_VARIABLES.items() if name != "node.params"}


ListedNode = tuple[str, NodeDefinition, Iterable[Override]]
"""A node, and the overrides that list it."""


class Conditions:
    """Results of overrides' conditions, kept across commits."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], bool] = {}

    def prepare(
        self,
        nodes: Iterable[ListedNode],
        selecting: Iterable[Override],
        stacks: Stacks,
        rule_engine: "RuleEngine",
    ) -> None:
        """Compute the effects of rules on nodes, with the overrides that list them: faster for many at once.

        If a rule is stopped, this is found again node by node.
        """
        with suppress(Stopped):
            self._apply_rules(tuple(nodes), selecting, stacks, rule_engine)

    def compile(
        self,
        name: str,
        definition: NodeDefinition,
        listed: Iterable[Override],
        selecting: Iterable[Override],
        stacks: Stacks,
        rule_engine: "RuleEngine | None",
    ) -> NodeClass:
        """Return the class of a node.

        If one of the rules is stopped, all rules are ignored, so that there are results for commits before
        and after.
        """
        if rule_engine is not None:
            with suppress(Stopped):
                nodes, effects = self._apply_rules(
                    [(name, definition, listed)], selecting, stacks, rule_engine
                )
                return stacks.compile(*nodes[name], effects[name])
        return stacks.compile(definition, self._overrides(name, definition, listed, selecting, stacks, ()))

    def _apply_rules(
        self,
        nodes: Sequence[ListedNode],
        selecting: Iterable[Override],
        stacks: Stacks,
        rule_engine: "RuleEngine",
    ) -> tuple[Mapping[str, tuple[NodeDefinition, tuple[Override, ...]]], Mapping[str, RuleEffects]]:
        """Return nodes with all overrides that apply to them, and the effects of rules.

        Raise Stopped if a rule takes too much work.
        """
        installs = rule_engine.installs({name: definition for name, definition, _ in nodes})
        found = {
            name: (definition, self._overrides(name, definition, listed, selecting, stacks, installs[name]))
            for name, definition, listed in nodes
        }
        return found, rule_engine.effects(found)

    def _overrides(
        self,
        name: str,
        definition: NodeDefinition,
        listed: Iterable[Override],
        selecting: Iterable[Override],
        stacks: Stacks,
        installs: tuple[RuleInstall, ...],
    ) -> tuple[Override, ...]:
        """Return the overrides that list a node, and those whose conditions hold for it, in order of name."""
        view = NodeView(name, definition, lambda: stacks.below_overrides(definition, installs))
        chosen = (each for each in selecting if each.where and self._holds(each.where.name, view))
        return tuple(sorted((*listed, *chosen), key=lambda override: override.name))

    def _holds(self, text: str, node: NodeView) -> bool:
        """Return whether a condition holds. One that is invalid, or fails on the node, does not."""
        condition = _compile(text)
        if condition is None:
            return False
        row = {name: node.ask[name]() for name in sorted(condition.names)}
        key = (text, repr(row))
        if key not in self._answers:
            try:
                self._answers[key] = condition.holds(row)
            except CelProblem:
                self._answers[key] = False
        return self._answers[key]


def by_name(selecting: Iterable[Override]) -> bool:
    """Return whether any of these conditions distinguishes nodes by name."""
    conditions = (_compile(override.where.name) for override in selecting if override.where)
    return any("node.name" in condition.names for condition in conditions if condition is not None)


def rule_engine(stacks: Stacks) -> "RuleEngine | None":
    """Return what computes the effects of rules, each when it is first needed; None: there are no rules."""
    if not stacks.model.rules:
        return None
    from gitcfg.compile.rules.placement import RuleEngine

    return RuleEngine(stacks.layers)


@cache
def _compile(text: str) -> Condition | None:
    try:
        return compile_condition(text, _KNOWN)
    except CelProblem:
        return None


# Nodes with the same definitions, so that they are examined once.

Situation = tuple[tuple[str, ...], Node | None, NodeSet | None, tuple[Override, ...]]
"""Nodes with the same definitions: their names, file, set, and the overrides that list them."""


def alone(pool: Pool, roster: Roster, name: str) -> Situation:
    """Return the situation of one node."""
    own = pool.definitions["nodes"].get(name)
    return (name,), own, roster.sets.get(name), roster.listed.get(name, ())


def situations(pool: Pool, roster: Roster, apart: bool) -> Iterator[Situation]:
    """Yield every node once; members of a set with the same definitions come together, unless `apart`."""
    names = {*pool.definitions["nodes"], *(name for name in roster.listed if name in roster.sets)}
    if apart:
        names |= roster.sets.keys()
    for name in names:
        yield alone(pool, roster, name)
    for nodeset in roster.model.nodesets.values():
        alike: dict[int, list[str]] = {}
        for name in nodeset.members:
            if name not in names:
                alike.setdefault(id(nodeset.facts.get(name)), []).append(name)
        for rest in alike.values():
            yield tuple(rest), None, nodeset, ()


# A property of every node, followed from commit to commit.

Answer = Callable[[Model, NodeDefinition, Callable[[], NodeClass]], Any]
"""Returns the property of nodes with a definition, in a model of settings, features and groups.

It may call for their class. None: they do not have the property.
"""


_NO_PARAMETERS: Mapping[str, Parameter] = {}
_NO_SECRETS: Mapping[str, Secret] = {}

Answers = dict[Any, tuple[Any, frozenset[str] | None]]
"""Answers by definition, with the groups on which they depend; None: they depend on more."""


class Census(msgspec.Struct, frozen=True):
    """A property of nodes at one commit, by name, and what the next census can reuse."""

    answers: Mapping[str, Any]
    pool: Pool
    parameters: Mapping[str, Parameter]
    secrets: Mapping[str, Secret]
    ruling: Ruling
    roster: Roster
    layers: ReusedLayers
    stacks: ReusedStacks
    known: Answers


class Censuses:
    """Takes censuses of neighbouring commits, one for each pool of outlined definitions."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._conditions = Conditions()
        self._definitions: dict[tuple[int, ...], NodeDefinition] = {}

    def take(
        self,
        older: Census | None,
        pool: Pool,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
        secrets: Mapping[str, Secret] = _NO_SECRETS,
        ruling: Ruling = NOTHING,
    ) -> Census | None:
        """Return the census of a pool, the older one if nothing differs. None: there is no repository.

        Answers that do not depend on values need neither parameters nor secrets; answers that do not depend
        on features need no rules.
        """
        settings = pool.settings
        if settings is None:
            return None
        same_declared = older is not None and parameters is older.parameters and secrets is older.secrets
        if older is not None and same_declared and ruling is older.ruling and pool.same(older.pool):
            return older
        same_roster = older is not None and pool.same(older.pool, "nodesets", "overrides")
        roster = older.roster if older is not None and same_roster else Roster(model_of(settings, pool))
        declared = _declarations(older, pool, parameters, secrets, ruling)
        layers, stacks = _stacks(older, settings, pool, declared, ruling)
        known = _reusable_answers(older, layers, settings) if older is not None else {}
        census = Census({}, pool, parameters, secrets, ruling, roster, layers, stacks, known)
        answers = self._answer_all(older, census)
        same = older is not None and answers == older.answers
        return replace(census, answers=older.answers if older is not None and same else answers)

    def _answer_all(self, older: Census | None, census: Census) -> dict[str, Any]:
        """Return the answers for all nodes, reusing the older ones if only files of nodes differ."""
        pool, roster = census.pool, census.roster
        if older is None or census.stacks is not older.stacks or roster is not older.roster:
            apart = bool(census.ruling.rules) or by_name(roster.selecting)
            return self._answer_some(census, situations(pool, roster, apart))
        answers = dict(older.answers)
        before, after = older.pool.definitions["nodes"], pool.definitions["nodes"]
        changed = {name for name in before.keys() | after.keys() if before.get(name) is not after.get(name)}
        for name in changed:
            answers.pop(name, None)
        return answers | self._answer_some(census, (alone(pool, roster, name) for name in changed))

    def _answer_some(self, census: Census, situations: Iterable[Situation]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        selecting = tuple(map(id, census.roster.selecting))
        rules = rule_engine(census.stacks)
        if rules is not None:
            situations = tuple(situations)
            nodes = (
                (names[0], define_node(own, nodeset, names[0]), listed)
                for names, own, nodeset, listed in situations
                if own is not None or nodeset is not None
            )
            self._conditions.prepare(nodes, census.roster.selecting, census.stacks, rules)
        for names, own, nodeset, listed in situations:
            if own is None and nodeset is None:
                continue
            # Outlines are never deleted, so their ids are unique.
            definition = nodeset.definition if nodeset is not None else None
            ids = (id(own), id(definition), id(nodeset.facts.get(names[0]) if nodeset is not None else None))
            key = (*ids, *map(id, listed), selecting, names[0] if selecting or rules else "")
            if key not in census.known:
                about = self._definitions[ids] = self._definitions.get(ids) or define_node(
                    own, nodeset, names[0]
                )
                compile_ = partial(
                    self._conditions.compile,
                    names[0],
                    about,
                    listed,
                    census.roster.selecting,
                    census.stacks,
                    rules,
                )
                answer = self._answer(census.stacks.model, about, compile_)
                census.known[key] = (answer, None if rules else _groups(about, listed, census.roster))
            answer = census.known[key][0]
            if answer is not None:
                result.update(dict.fromkeys(names, answer))
        return result


def _groups(about: NodeDefinition, listed: tuple[Override, ...], roster: Roster) -> frozenset[str] | None:
    """Return the explicit groups if features come from groups alone, else None."""
    more = about.features or about.without or roster.selecting
    if more or any(override.features or override.without for override in listed):
        return None
    return frozenset(ref.name for ref in about.groups)


def _reusable_answers(older: Census, layers: ReusedLayers, settings: Settings) -> Answers:
    """Return the older answers that depend only on groups whose layers are the same objects."""
    before = older.layers
    if layers is before:
        return older.known
    if settings != older.pool.settings or layers.declarations is not before.declarations:
        return {}
    names = {settings.default_group, *before.model.groups, *layers.model.groups}
    changed = {name for name in names if before.group(name) is not layers.group(name)}
    if settings.default_group in changed:
        return {}
    known = older.known.items()
    return {key: found for key, found in known if found[1] is not None and found[1].isdisjoint(changed)}


def _stacks(
    older: Census | None, settings: Settings, pool: Pool, declared: Declarations, ruling: Ruling
) -> tuple[ReusedLayers, ReusedStacks]:
    """Return the layers and stacks, reused from an older census as far as nothing differs."""
    before = older.layers if older else None
    same = older is not None and ruling is older.ruling and pool.same(older.pool, "features", "groups")
    if older is not None and same and declared is older.layers.declarations:
        return older.layers, older.stacks
    model = Model(
        settings,
        features=pool.definitions["features"],
        groups=pool.definitions["groups"],
        rules=ruling.rules,
        allocations=ruling.allocations,
    )
    layers = ReusedLayers(model, declared, before)
    return layers, ReusedStacks(model, layers, older.stacks if older else None)


def _declarations(
    older: Census | None,
    pool: Pool,
    parameters: Mapping[str, Parameter],
    secrets: Mapping[str, Secret],
    ruling: Ruling,
) -> Declarations:
    """Return the declarations, with the types that operations imply in all definitions."""
    before = older.layers.declarations if older is not None else None
    same = older is not None and parameters is older.parameters and secrets is older.secrets
    same_bindings = older is not None and pool.bindings is older.pool.bindings and ruling is older.ruling
    if older is not None and same and same_bindings:
        return older.layers.declarations
    bindings = (bound for params in pool.bindings.values() for bound in params.items())
    implied = implied_kinds(chain(bindings, ruling.bindings))
    return declarations(before, parameters, implied, secrets)


# All nodes together, followed from commit to commit: for nodes that collect values from each other.

_NOTHING = Pool()


class WholeFleet(msgspec.Struct, frozen=True):
    """The fleet at one commit, compiled lazily, without the texts of files."""

    pool: Pool
    fleet: Fleet

    def node(self, name: str) -> FleetNode | None:
        """Return one of its nodes, if it exists."""
        if name not in self.fleet:
            return None
        return self.fleet[name]


class WholeFleets:
    """Makes the fleets of neighbouring commits: definitions are read once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def follow(self, older: WholeFleet | None, snapshot: Snapshot, keys: frozenset[Key]) -> WholeFleet | None:
        """Return the fleet of a neighbour that differs in `keys`; the same one if only texts differ.

        None: there is no repository.
        """
        before = older.pool if older else _NOTHING
        pool = update_pool(self._documents, before, snapshot, keys if older else everything(snapshot))
        if pool.settings is None:
            return None
        if older and pool.settings == before.settings and all(folder in TEXTS for folder, _ in keys):
            return older
        documents, others = self._documents, snapshot.others
        ruled = ruling(documents, pool.settings, None, snapshot)
        model = replace(
            model_of(pool.settings, pool),
            parameters=parameters(documents, others["parameters"]),
            secrets=secrets(documents, others["secrets"]),
            rules=ruled.rules,
            allocations=ruled.allocations,
        )
        return WholeFleet(pool, Fleet(model, DictTree({}), date.min))


# What renders the files of nodes that were compiled one by one, at successive commits.

_MOST = 256


class _FilesTree:
    """The templates and plain files of a snapshot, as a tree."""

    commit: str | None = None

    def __init__(self, history: History, files: Mapping[str, bytes]) -> None:
        self._history = history
        self._files = files
        self._objects = Objects(history.git)

    def entries(self, folder: str) -> Iterator[Entry]:
        found = (self.entry(path) for path in sorted(self._files) if path.startswith(f"{folder}/"))
        return (entry for entry in found if entry is not None)

    def entry(self, path: str) -> Entry | None:
        file = self._files.get(path)
        if file is None:
            return None
        return Entry(path, EntryKind.FILE, file.hex(), self._objects)

    def read(self, entry: Entry) -> bytes:
        return self._history.read(bytes.fromhex(entry.key))


class Sides:
    """Makes sides, one for all commits with the same declarations, templates and plain files.

    Their templates share one child process. Close it at the end.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._guard = template_guard()
        self._sides: dict[tuple[int, ...], tuple[Side, Any]] = {}
        self._engines: dict[int, tuple[TemplateEngine, Any]] = {}

    def side(self, settings: Settings, declared: Declarations, snapshot: Snapshot) -> Side:
        """Return the side of a snapshot."""
        sources = (declared.parameters, snapshot.others["templates"], snapshot.others["files"])
        key = tuple(map(id, sources))
        if len(self._sides) > _MOST:
            self._sides.clear()
        if key not in self._sides:
            self._sides[key] = (self._side(settings, *sources), sources)
        return self._sides[key][0]

    def close(self) -> None:
        """End the child process."""
        self._guard.close()

    def _side(
        self,
        settings: Settings,
        declared: Mapping[str, Any],
        templates: Mapping[str, bytes],
        files: Mapping[str, bytes],
    ) -> Side:
        names = frozenset(path.partition("/")[2] for path in templates)
        sources = frozenset(path.partition("/")[2] for path in files)
        model = Model(settings, parameters=declared, templates=names, sources=sources)
        fleet = Fleet(model, _FilesTree(self._history, {**templates, **files}), date.min)
        if len(self._engines) > _MOST:
            self._engines.clear()
        if id(templates) not in self._engines:
            self._engines[id(templates)] = (TemplateEngine(fleet.templates, self._guard), templates)
        return Side(fleet, self._engines[id(templates)][0])
