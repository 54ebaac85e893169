"""The nodes of a commit by class: rules and overrides decide which class a node is of.

Conditions of overrides are evaluated once for all nodes that look the same to them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gitcfg.cel import NODE_VARIABLES, CelProblem, Condition, compile_condition
from gitcfg.comparison.files import Side
from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass, Stacks
from gitcfg.compile.nodes import NodeDefinition, Roster, RuleEffects, RuleInstall
from gitcfg.compile.nodes import define_node as put_together
from gitcfg.compile.selection import NodeView, Stopped
from gitcfg.git.history import History
from gitcfg.git.objects import Objects
from gitcfg.git.tree import DictTree, Entry, EntryKind
from gitcfg.history.definitions import NOTHING, Ruling, declarations, parameters, ruling, secrets
from gitcfg.history.layers import ReusedLayers, ReusedStacks
from gitcfg.history.snapshot import Documents, Key, Pool, Snapshot, everything, followed_pool, model_of
from gitcfg.model import Model, Node, NodeSet, Override, Parameter, Secret, Settings
from gitcfg.model.names import TEXTS
from gitcfg.render.templates import TemplateEngine, template_guard

if TYPE_CHECKING:
    from gitcfg.compile.rules.placement import RuleEngine

_KNOWN = {name: kind for name, kind in NODE_VARIABLES.items() if name != "node.params"}


Listed = tuple[str, NodeDefinition, Iterable[Override]]
"""A node, and the overrides that list it."""


class Conditions:
    """Answers of overrides' conditions, kept across commits."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], bool] = {}

    def look(
        self,
        nodes: Iterable[Listed],
        selecting: Iterable[Override],
        stacks: Stacks,
        rule_engine: "RuleEngine",
    ) -> None:
        """Find what rules bring to nodes, with the overrides that list them: of many at once it is faster.

        Where one was stopped that is seen again node by node.
        """
        with suppress(Stopped):
            self._beings(tuple(nodes), selecting, stacks, rule_engine)

    def compiled(
        self,
        name: str,
        definition: NodeDefinition,
        listed: Iterable[Override],
        selecting: Iterable[Override],
        stacks: Stacks,
        rule_engine: "RuleEngine | None",
    ) -> NodeClass:
        """What a node compiles to. Rules of which one was stopped bring nothing: what came before and after
        them is told all the same.
        """
        if rule_engine is not None:
            with suppress(Stopped):
                beings, effects = self._beings([(name, definition, listed)], selecting, stacks, rule_engine)
                return stacks.compile(*beings[name], effects[name])
        return stacks.compile(definition, self._applying(name, definition, listed, selecting, stacks, ()))

    def _beings(
        self,
        nodes: Sequence[Listed],
        selecting: Iterable[Override],
        stacks: Stacks,
        rule_engine: "RuleEngine",
    ) -> tuple[Mapping[str, tuple[NodeDefinition, tuple[Override, ...]]], Mapping[str, RuleEffects]]:
        """Return nodes with all overrides that apply to them, and what rules bring. Stopped: nobody knows."""
        installs = rule_engine.installs({name: said for name, said, _ in nodes})
        beings = {
            name: (said, self._applying(name, said, listed, selecting, stacks, installs[name]))
            for name, said, listed in nodes
        }
        return beings, rule_engine.effects(beings)

    def _applying(
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
        """Return whether it holds. One that is wrong, or fails on the node, does not."""
        condition = _compiled(text)
        if condition is None:
            return False
        row = {name: node.ask[name]() for name in sorted(condition.names)}
        key = (text, repr(row))
        if key not in self._answers:
            self._answers[key] = _asked(condition, row)
        return self._answers[key]


def by_name(selecting: Iterable[Override]) -> bool:
    """Return whether one of these conditions distinguishes nodes by name."""
    conditions = (_compiled(override.where.name) for override in selecting if override.where)
    return any("node.name" in condition.names for condition in conditions if condition is not None)


def rule_engine(stacks: Stacks) -> "RuleEngine | None":
    """What finds what rules bring to nodes, each as it is when it is asked about first; None: no rules."""
    if not stacks.model.rules:
        return None
    from gitcfg.compile.rules.placement import RuleEngine

    return RuleEngine(stacks.layers)


def _asked(condition: Condition, row: dict[str, object]) -> bool:
    try:
        return condition.holds(row)
    except CelProblem:
        return False


@cache
def _compiled(text: str) -> Condition | None:
    try:
        return compile_condition(text, _KNOWN)
    except CelProblem:
        return None


# Nodes of which the same is said, so that they are looked at once.

Situation = tuple[tuple[str, ...], Node | None, NodeSet | None, tuple[Override, ...]]
"""Nodes of which the same is said: their names, file, set, and the overrides that list them."""


def alone(pool: Pool, roster: Roster, name: str) -> Situation:
    """Return what is said of one node."""
    own = pool.definitions["nodes"].get(name)
    return (name,), own, roster.sets.get(name), roster.listed.get(name, ())


def situations(pool: Pool, roster: Roster, apart: bool) -> Iterator[Situation]:
    """Yield every node once; members of a set of which nothing else is said come together, unless `apart`."""
    names = {*pool.definitions["nodes"], *(name for name in roster.listed if name in roster.sets)}
    if apart:
        names |= roster.sets.keys()
    for name in names:
        yield alone(pool, roster, name)
    for nodeset in roster.model.nodesets.values():
        rest = tuple(name for name in nodeset.members if name not in names)
        if rest:
            yield rest, None, nodeset, ()


# What every node has of one thing, followed from commit to commit.

Answer = Callable[[Model, NodeDefinition, Callable[[], NodeClass]], Any]
"""What to note of nodes of which this is said in a model of settings, features and groups; what they
compile to may be asked. None: nothing."""


_NO_PARAMETERS: Mapping[str, Parameter] = {}
_NO_SECRETS: Mapping[str, Secret] = {}

Kept = dict[Any, tuple[Any, frozenset[str] | None]]
"""Answers by what is said, with the groups that they hang on; None: they hang on more."""


class Census(msgspec.Struct, frozen=True):
    """What nodes have at one commit, by name, and what the next census can be made from."""

    answers: Mapping[str, Any]
    pool: Pool
    parameters: Mapping[str, Parameter]
    secrets: Mapping[str, Secret]
    ruling: Ruling
    roster: Roster
    layers: ReusedLayers
    stacks: ReusedStacks
    kept: Kept


class Taker:
    """Takes censuses of neighbouring commits, one for each pool of outlined definitions."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._conditions = Conditions()
        self._said: dict[tuple[int, int], NodeDefinition] = {}

    def take(
        self,
        older: Census | None,
        pool: Pool,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
        secrets: Mapping[str, Secret] = _NO_SECRETS,
        ruling: Ruling = NOTHING,
    ) -> Census | None:
        """The census of a pool; the older one where nothing is different. None: there is no repository.

        Answers that look at no values need neither parameters nor secrets, nor rules if at no features.
        """
        settings = pool.settings
        if settings is None:
            return None
        told = older is not None and parameters is older.parameters and secrets is older.secrets
        if older is not None and told and ruling is older.ruling and pool.same(older.pool):
            return older
        listed = older is not None and pool.same(older.pool, "nodesets", "overrides")
        roster = older.roster if older is not None and listed else Roster(model_of(settings, pool))
        declared = _declarations(older, pool, parameters, secrets, ruling)
        layers, stacks = _stacks(older, settings, pool, declared, ruling)
        kept = _kept(older, layers, settings) if older is not None else {}
        census = Census({}, pool, parameters, secrets, ruling, roster, layers, stacks, kept)
        answers = self._all(older, census)
        same = older is not None and answers == older.answers
        return replace(census, answers=older.answers if older is not None and same else answers)

    def _all(self, older: Census | None, census: Census) -> dict[str, Any]:
        """Return the answers for all nodes, from the older ones where only files of nodes are different."""
        pool, roster = census.pool, census.roster
        if older is None or census.stacks is not older.stacks or roster is not older.roster:
            apart = bool(census.ruling.rules) or by_name(roster.selecting)
            return self._answers(census, situations(pool, roster, apart))
        answers = dict(older.answers)
        changed = _changed(older.pool.definitions["nodes"], pool.definitions["nodes"])
        for name in changed:
            answers.pop(name, None)
        return answers | self._answers(census, (alone(pool, roster, name) for name in changed))

    def _answers(self, census: Census, situations: Iterable[Situation]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        selecting = tuple(map(id, census.roster.selecting))
        rules = rule_engine(census.stacks)
        if rules is not None:
            situations = tuple(situations)
            self._conditions.look(_beings(situations), census.roster.selecting, census.stacks, rules)
        for names, own, nodeset, listed in situations:
            if own is None and nodeset is None:
                continue
            # Outlines are never thrown away, so their ids name them.
            definition = nodeset.definition if nodeset is not None else None
            said = (id(own), id(definition))
            key = (*said, *map(id, listed), selecting, names[0] if selecting or rules else "")
            if key not in census.kept:
                about = self._said[said] = self._said.get(said) or put_together(own, nodeset)
                answer = self._asked(census, names[0], about, listed, rules)
                census.kept[key] = (answer, None if rules else _groups(about, listed, census.roster))
            answer = census.kept[key][0]
            if answer is not None:
                result.update(dict.fromkeys(names, answer))
        return result

    def _asked(
        self,
        census: Census,
        name: str,
        about: NodeDefinition,
        listed: tuple[Override, ...],
        rules: "RuleEngine | None",
    ) -> Any:
        stacks, selecting = census.stacks, census.roster.selecting

        def compiled() -> NodeClass:
            return self._conditions.compiled(name, about, listed, selecting, stacks, rules)

        return self._answer(stacks.model, about, compiled)


def _beings(situations: Iterable[Situation]) -> Iterator[tuple[str, NodeDefinition, tuple[Override, ...]]]:
    """Yield what is said of each node, with the overrides that list it."""
    for names, own, nodeset, listed in situations:
        if own is not None or nodeset is not None:
            yield names[0], put_together(own, nodeset), listed


def _groups(about: NodeDefinition, listed: tuple[Override, ...], roster: Roster) -> frozenset[str] | None:
    """Return the explicit groups, if features come from groups alone."""
    more = about.features or about.without or roster.selecting
    if more or any(override.features or override.without for override in listed):
        return None
    return frozenset(ref.name for ref in about.groups)


def _kept(older: Census, layers: ReusedLayers, settings: Settings) -> Kept:
    """Return the older answers that hang on groups whose layers are the very same."""
    before = older.layers
    if layers is before:
        return older.kept
    if settings != older.pool.settings or layers.declarations is not before.declarations:
        return {}
    names = {settings.default_group, *before.model.groups, *layers.model.groups}
    changed = {name for name in names if before.group(name) is not layers.group(name)}
    if settings.default_group in changed:
        return {}
    kept = older.kept.items()
    return {key: found for key, found in kept if found[1] is not None and found[1].isdisjoint(changed)}


def _changed(before: Mapping[str, Node], after: Mapping[str, Node]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) is not after.get(name)}


def _stacks(
    older: Census | None, settings: Settings, pool: Pool, declared: Declarations, ruling: Ruling
) -> tuple[ReusedLayers, ReusedStacks]:
    """Return the layers, those of an older census as far as nothing is different."""
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
    said = older is not None and pool.bindings is older.pool.bindings and ruling is older.ruling
    if older is not None and same and said:
        return older.layers.declarations
    bindings = (bound for params in pool.bindings.values() for bound in params.items())
    implied = implied_kinds(chain(bindings, ruling.bindings))
    return declarations(before, parameters, implied, secrets)


# All nodes together, followed from commit to commit: for nodes that collect values from each other.

_NOTHING = Pool()


class Whole(msgspec.Struct, frozen=True):
    """The fleet at one commit, of which as much is compiled as is asked for; it knows no texts of files."""

    pool: Pool
    fleet: Fleet

    def node(self, name: str) -> FleetNode | None:
        """Return one of its nodes, if it is there."""
        if name not in self.fleet:
            return None
        return self.fleet[name]


class Wholes:
    """Makes the fleets of neighbouring commits: definitions are read once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def follow(self, older: Whole | None, snapshot: Snapshot, keys: frozenset[Key]) -> Whole | None:
        """Return the fleet of a neighbour that is different in `keys`; the same one if only texts are.

        None: there is no repository.
        """
        before = older.pool if older else _NOTHING
        pool = followed_pool(self._documents, before, snapshot, keys if older else everything(snapshot))
        if pool.settings is None:
            return None
        if older and pool.settings == before.settings and all(folder in TEXTS for folder, _ in keys):
            return older
        model = self._model(pool.settings, pool, snapshot)
        return Whole(pool, Fleet(model, DictTree({}), date.min))

    def _model(self, settings: Settings, pool: Pool, snapshot: Snapshot) -> Model:
        documents, others = self._documents, snapshot.others
        ruled = ruling(documents, settings, None, snapshot)
        return replace(
            model_of(settings, pool),
            parameters=parameters(documents, others["parameters"]),
            secrets=secrets(documents, others["secrets"]),
            rules=ruled.rules,
            allocations=ruled.allocations,
        )


# What the files of nodes are rendered with that were compiled one by one, at one commit after the other.

_MOST = 256


class _Files:
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

    Their templates share one child. Close it at the end.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._guard = template_guard()
        self._sides: dict[tuple[int, ...], tuple[Side, Any]] = {}
        self._engines: dict[int, tuple[TemplateEngine, Any]] = {}

    def side(self, settings: Settings, declared: Declarations, snapshot: Snapshot) -> Side:
        """Return the side of a snapshot."""
        made_of = (declared.parameters, snapshot.others["templates"], snapshot.others["files"])
        key = tuple(map(id, made_of))
        if len(self._sides) > _MOST:
            self._sides.clear()
        if key not in self._sides:
            self._sides[key] = (self._side(settings, *made_of), made_of)
        return self._sides[key][0]

    def close(self) -> None:
        """End the child."""
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
        fleet = Fleet(model, _Files(self._history, {**templates, **files}), date.min)
        if len(self._engines) > _MOST:
            self._engines.clear()
        if id(templates) not in self._engines:
            self._engines[id(templates)] = (TemplateEngine(fleet.templates, self._guard), templates)
        return Side(fleet, self._engines[id(templates)][0])
