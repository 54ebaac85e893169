"""What is configured: a node, a node set or a group, found by its name."""

from collections.abc import Callable, Mapping

import msgspec

from gitcfg.compile.mentions import Mentions
from gitcfg.compile.nodes import Roster
from gitcfg.edit.orders import Action, Order
from gitcfg.model import GitcfgError, Group, Model, Node, Use
from gitcfg.model.names import did_you_mean, shown

_NOUNS = {"node": "node", "group": "group", "nodeset": "node set"}


class Target(msgspec.Struct, frozen=True):
    """A definition that lists features and binds parameters, by kind and name."""

    kind: str
    name: str

    @property
    def entity(self) -> str:
        """As one names it: `group/Workers`."""
        return f"{self.kind}/{self.name}"

    @property
    def label(self) -> str:
        """As its layer is called in paths: `node set exec`."""
        return f"{_NOUNS[self.kind]} {self.name}"

    def order(self, model: Model) -> Order:
        """An order about it that says nothing yet; a default group without a file is made."""
        absent = self.kind == "group" and self.name not in model.groups
        return Order(Action.NEW if absent else Action.MODIFY, self.kind, self.name)


def find_target(model: Model, text: str) -> Target:
    """What a text names: `NAME`, or `KIND/NAME`. GitcfgError: nothing, or several things."""
    known = _known(model)
    kind, slash, name = text.partition("/")
    if slash:
        if kind not in known:
            raise GitcfgError(f"{shown(kind)} is no kind to configure.", f"Say one of: {', '.join(known)}.")
        if name not in known[kind]:
            hint = did_you_mean(name, known[kind])
            raise GitcfgError(f"There is no {_NOUNS[kind]} {shown(name)}.", hint)
        return Target(kind, name)
    found = [Target(kind, text) for kind, names in known.items() if text in names]
    if not found:
        raise _unknown(model, text, known)
    if len(found) > 1:
        nouns = " and of a ".join(_NOUNS[one.kind] for one in found)
        hint = f"Say {' or '.join(one.entity for one in found)}."
        raise GitcfgError(f"{shown(text)} is the name of a {nouns}.", hint)
    return found[0]


def _known(model: Model) -> Mapping[str, set[str]]:
    roster = Roster(model)
    return {
        "node": set(model.nodes) | set(roster.sets),
        "group": {*model.groups, model.settings.default_group},
        "nodeset": set(model.nodesets),
    }


def _unknown(model: Model, text: str, known: Mapping[str, set[str]]) -> GitcfgError:
    if text in model.features:
        hint = f"It is a feature: `gitcfg modify feature '{text}'` changes it."
    else:
        hint = did_you_mean(text, (name for names in known.values() for name in names))
    return GitcfgError(f"There is no node, group or node set {shown(text)}.", hint)


def find_definition(model: Model, target: Target) -> Node | Group | None:
    """What its own file says; None: it has none."""
    if target.kind == "node":
        return model.nodes.get(target.name)
    if target.kind == "group":
        return model.groups.get(target.name)
    found = model.nodesets.get(target.name)
    return None if found is None else found.definition


def listed_features(found: Node | Group | None) -> tuple[Use, ...]:
    """The features in its own list, highest first: positions count in it."""
    if found is None:
        return ()
    return found.features.items if isinstance(found, Node) else found.features


def find_nodes(model: Model, target: Target, mentions: Callable[[], Mentions]) -> tuple[str, ...]:
    """The nodes that are made from it. Who is in which group is asked for only if it is one."""
    if target.kind == "node":
        return (target.name,)
    if target.kind == "nodeset":
        return model.nodesets[target.name].members
    if target.name == model.settings.default_group:
        return Roster(model).names()
    return tuple(mentions().groups.get(target.name, ()))
