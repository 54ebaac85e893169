"""What every node has of one thing, followed from commit to commit."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.compile.nodes import Roster, Said
from gitcfg.compile.nodes import said as put_together
from gitcfg.history.conditions import Conditions, bringing, by_name
from gitcfg.history.declared import declarations
from gitcfg.history.kept import KeptLayers, KeptStacks
from gitcfg.history.pool import Pool, model_of
from gitcfg.history.ruling import NOTHING, Ruling
from gitcfg.history.situations import Situation, alone, situations
from gitcfg.model import Model, Node, Override, Parameter, Secret, Settings

if TYPE_CHECKING:
    from gitcfg.compile.ruled.bringing import Bringing

Answer = Callable[[Model, Said, Callable[[], NodeClass]], Any]
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
    layers: KeptLayers
    stacks: KeptStacks
    kept: Kept


class Taker:
    """Takes censuses of neighbouring commits, one for each pool of outlined definitions."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._conditions = Conditions()
        self._said: dict[tuple[int, int], Said] = {}

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
        """The answers for all nodes, from the older ones where only files of nodes are different."""
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
        rules = bringing(census.stacks)
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
        about: Said,
        listed: tuple[Override, ...],
        rules: "Bringing | None",
    ) -> Any:
        stacks, selecting = census.stacks, census.roster.selecting

        def compiled() -> NodeClass:
            return self._conditions.compiled(name, about, listed, selecting, stacks, rules)

        return self._answer(stacks.model, about, compiled)


def _beings(situations: Iterable[Situation]) -> Iterator[tuple[str, Said, tuple[Override, ...]]]:
    """What is said of each node, with the overrides that list it."""
    for names, own, nodeset, listed in situations:
        if own is not None or nodeset is not None:
            yield names[0], put_together(own, nodeset), listed


def _groups(about: Said, listed: tuple[Override, ...], roster: Roster) -> frozenset[str] | None:
    """The explicit groups, if features come from groups alone."""
    more = about.features or about.without or roster.selecting
    if more or any(override.features or override.without for override in listed):
        return None
    return frozenset(ref.name for ref in about.groups)


def _kept(older: Census, layers: KeptLayers, settings: Settings) -> Kept:
    """The older answers that hang on groups whose layers are the very same."""
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
) -> tuple[KeptLayers, KeptStacks]:
    """The layers, those of an older census as far as nothing is different."""
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
    layers = KeptLayers(model, declared, before)
    return layers, KeptStacks(model, layers, older.stacks if older else None)


def _declarations(
    older: Census | None,
    pool: Pool,
    parameters: Mapping[str, Parameter],
    secrets: Mapping[str, Secret],
    ruling: Ruling,
) -> Declarations:
    """The declarations, with the types that operations imply in all definitions."""
    before = older.layers.declarations if older is not None else None
    same = older is not None and parameters is older.parameters and secrets is older.secrets
    said = older is not None and pool.bindings is older.pool.bindings and ruling is older.ruling
    if older is not None and same and said:
        return older.layers.declarations
    bindings = (bound for params in pool.bindings.values() for bound in params.items())
    implied = implied_kinds(chain(bindings, ruling.bindings))
    return declarations(before, parameters, implied, secrets)
