"""What rules bring by strata and classes is what each node gets that is asked alone, rule after rule.

A rule that installs is as a group below all others of the node, one that sets as a group above them.
"""

from collections.abc import Callable, Iterator
from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.layers import Layers
from gitcfg.compile.node_class import Stacks
from gitcfg.compile.nodes import NodeDefinition
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.model import Group, Model, Origin, Override, Ref, Use
from gitcfg.model.rules import Rule, RuleKind
from tests.compile.fleets import TODAY, mixed
from tests.compile.rules.written import install, setting
from tests.seeds import TIMES, mostly_slow

Holds = Callable[[str, NodeDefinition, frozenset[str]], bool]
NOWHERE = Origin("x")


class Condition:
    """A condition as CEL and as Python, with the features that it reads."""

    def __init__(self, text: str | None, holds: Holds, reads: frozenset[str] = frozenset()) -> None:
        self.text, self.holds, self.reads = text, holds, reads


def condition(rng: Random, model: Model) -> Condition:
    """Some condition."""
    feature, group = rng.choice(sorted(model.features)), rng.choice(sorted(model.groups))
    digit = str(rng.randrange(10))
    return rng.choice(
        [
            Condition(None, lambda name, said, features: True),
            Condition(f'"{group}" in node.groups', lambda name, said, features: group in names(said.groups)),
            Condition(f'node.name.contains("{digit}")', lambda name, said, features: digit in name),
            Condition("size(node.facts) > 1", lambda name, said, features: len(said.facts) > 1),
            Condition(
                f'"{feature}" in node.features',
                lambda name, said, features: feature in features,
                frozenset({feature}),
            ),
            Condition(
                f'!("{feature}" in node.features) && !("{group}" in node.groups)',
                lambda name, said, features: feature not in features and group not in names(said.groups),
                frozenset({feature}),
            ),
        ]
    )


def names(refs: tuple[Ref, ...]) -> list[str]:
    return [ref.name for ref in refs]


class Naive:
    """Rules as groups, for one node at a time."""

    def __init__(self, fleet: Fleet, conditions: dict[str, Condition]) -> None:
        self.fleet, self.conditions = fleet, conditions
        self.rules = fleet.model.rules
        groups = {f"rule {name}": _as_group(rule) for name, rule in self.rules.items()}
        model = replace(fleet.model, groups={**fleet.model.groups, **groups}, rules={})
        self.stacks = Stacks(model, Layers(model, fleet.declarations))

    def params(self, name: str) -> tuple[dict[str, object], frozenset[str]]:
        """Values and features of a node."""
        said = self.fleet.roster.definition(name)
        installs: list[str] = []
        for rule in [] if said.retired else self._order():
            features = self.stacks.compile(_with(said, (), installs), ()).features
            if self.conditions[rule].holds(name, said, features):
                installs.append(rule)
        overrides = self._overrides(name)
        features = self.stacks.compile(_with(said, (), installs), overrides).features
        sets = [
            rule
            for rule in sorted(self.rules)
            if self.rules[rule].kind is RuleKind.SET and self.conditions[rule].holds(name, said, features)
        ]
        kind = self.stacks.compile(_with(said, sets, installs), overrides)
        return dict(kind.params), kind.features

    def _overrides(self, name: str) -> tuple[Override, ...]:
        return self.fleet.roster.listed.get(name, ())

    def _order(self) -> Iterator[str]:
        """Rules that install, each after those that bring what it reads; none on a circle."""
        waits = {rule: self._waits(rule) for rule in self.rules if self.rules[rule].kind is RuleKind.INSTALL}
        closed = {rule: _closure(waits, rule) for rule in waits}
        done: list[str] = []
        todo = {rule for rule in waits if rule not in closed[rule]}
        while todo:
            ready = sorted(rule for rule in todo if not waits[rule] & todo)
            yield from ready
            done += ready
            todo -= set(ready)

    def _waits(self, rule: str) -> set[str]:
        reads = self.conditions[rule].reads
        return {
            other
            for other, said in self.rules.items()
            if said.feature and reads & self.fleet.layers.expanded([said.feature.name])
        }


def _closure(waits: dict[str, set[str]], rule: str) -> set[str]:
    found, todo = set[str](), list(waits[rule])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += waits[name]
    return found


def _as_group(rule: Rule) -> Group:
    uses = (Use(rule.feature.name, NOWHERE),) if rule.feature else ()
    return Group(f"rule {rule.name}", NOWHERE, features=uses, params=rule.params)


def _with(said: NodeDefinition, sets: list[str] | tuple[()], installs: list[str]) -> NodeDefinition:
    """Higher names topmost, so first in lists of groups."""
    above = [Ref(f"rule {rule}", NOWHERE) for rule in sorted(sets, reverse=True)]
    below = [Ref(f"rule {rule}", NOWHERE) for rule in sorted(installs, reverse=True)]
    return replace(said, groups=(*above, *said.groups, *below))


def ruled(seed: int) -> tuple[Fleet, dict[str, Condition]]:
    """A random fleet with random rules."""
    rng = Random(seed)
    fleet = compile_tree(DictTree(repository(mixed(seed))), TODAY)
    model, bindings = fleet.model, list(fleet.bindings.written)
    plain = [name for name in sorted(model.features) if fleet.layers.feature(Use(name, NOWHERE))]
    rules, conditions = {}, {}
    for number in range(rng.randrange(1, 9)):
        name = f"{rng.choice('abc')}{number}"
        conditions[name] = condition(rng, model)
        where = {"where": conditions[name].text} if conditions[name].text else {}
        if rng.random() < 0.6:
            rules[name] = install(name, rng.choice(plain), **where)
        else:
            rules[name] = setting(name, dict(rng.sample(bindings, min(3, len(bindings)))), **where)
    return Fleet(replace(model, rules=rules), fleet.tree, TODAY, fleet.declarations.implied), conditions


@pytest.mark.parametrize("seed", mostly_slow(range(12 * TIMES)))
def test_classes_are_as_nodes_asked_alone(seed: int) -> None:
    fleet, conditions = ruled(seed)
    naive = Naive(fleet, conditions)
    for kind in fleet.classes:
        for name in kind.names:
            params, features = naive.params(name)
            assert (dict(kind.params), kind.features) == (params, features), name


@pytest.mark.parametrize("seed", range(6 * TIMES))
def test_a_node_asked_alone_is_as_among_all(seed: int) -> None:
    fleet, _ = ruled(seed)
    together = fleet.node_classes
    for name in fleet.names:
        alone = Fleet(fleet.model, fleet.tree, TODAY, fleet.declarations.implied)[name].node_class
        assert alone.effects.key == together[name].effects.key
        assert [part.label for part in alone.parts] == [part.label for part in together[name].parts]
        assert dict(alone.params) == dict(together[name].params)


@pytest.mark.parametrize("seed", range(6 * TIMES))
def test_the_last_acting_step_is_the_value_and_steps_of_rules_name_them(seed: int) -> None:
    fleet, _ = ruled(seed)
    for name in fleet.names:
        node = fleet[name]
        for param, value in node.params.items():
            steps = node.trail(param)
            assert [step for step in steps if not step.overridden][-1].result == value
            for step in steps:
                if step.path[-1].startswith("rule "):
                    assert step.path[-1].removeprefix("rule ") in node.node_class.effects.rules


@pytest.mark.parametrize("seed", range(6 * TIMES))
def test_layers_stand_in_the_order_of_semantics(seed: int) -> None:
    fleet, _ = ruled(seed)
    default = f"group {fleet.model.settings.default_group}"
    for kind in fleet.classes:
        labels = [part.label or "" for part in kind.parts]
        installs = [f"rule {each.rule}" for each in kind.effects.installs]
        sets = [f"rule {rule}" for rule in kind.effects.sets]
        by_rules = [label for label in labels if label.startswith("rule ")]
        assert labels[:1] in ([default], [])
        below = [f"group {name}" for name in kind.groups]
        assert labels[1 + sum(label in labels for label in installs) :][: len(below)] in (below[::-1], [])
        assert by_rules == [label for label in installs if label in labels] + (sets if labels else [])
        after = [place for place, label in enumerate(labels) if label.startswith(("node ", "override "))]
        assert not after or all(labels.index(label) < after[0] for label in sets)
