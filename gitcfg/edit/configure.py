"""What `gitcfg configure` works with: a target, steps that can be undone, advice, checks, a diff."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from difflib import get_close_matches, unified_diff
from enum import StrEnum
from itertools import chain, count
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.check.run import check
from gitcfg.check.values import definitions
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.impact import Mentions
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import Roster
from gitcfg.compile.subset import take_part
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import Action, Order, carry_out
from gitcfg.git.tree import Tree
from gitcfg.load.repository import findings_so_far
from gitcfg.model import Finding, GitcfgError, Group, ListEdit, Model, Node, Op, Origin, Ref, Use
from gitcfg.model.graph import Reach
from gitcfg.model.names import did_you_mean, find_host, shown

_NOUNS = {"node": "node", "group": "group", "nodeset": "node set"}


class Target(msgspec.Struct, frozen=True):
    """A definition that lists features and binds parameters, by kind and name."""

    kind: str
    name: str

    @property
    def entity(self) -> str:
        """Its name with its kind: `group/Workers`."""
        return f"{self.kind}/{self.name}"

    @property
    def label(self) -> str:
        """The name of its layer in paths: `node set exec`."""
        return f"{_NOUNS[self.kind]} {self.name}"

    def order(self, model: Model) -> Order:
        """Return an order for the target without edits. It creates a default group that has no file."""
        absent = self.kind == "group" and self.name not in model.groups
        return Order(Action.NEW if absent else Action.MODIFY, self.kind, self.name)


def find_target(model: Model, text: str) -> Target:
    """Return what `NAME` or `KIND/NAME` names. Raise GitcfgError if that is nothing, or several things."""
    roster = Roster(model)
    known = {
        "node": set(model.nodes) | set(roster.sets),
        "group": {*model.groups, model.settings.default_group},
        "nodeset": set(model.nodesets),
    }
    kind, slash, name = text.partition("/")
    if slash:
        if kind not in known:
            raise GitcfgError(
                f"{shown(kind)} is not a kind to configure.", f"Use one of: {', '.join(known)}."
            )
        if kind == "node":
            name = find_host(name, known[kind]) or name
        if name not in known[kind]:
            hint = did_you_mean(name, known[kind])
            raise GitcfgError(f"There is no {_NOUNS[kind]} {shown(name)}.", hint)
        return Target(kind, name)
    found = [Target(kind, text) for kind, names in known.items() if text in names]
    host = None if found else find_host(text, known["node"])
    if host is not None:
        return Target("node", host)
    if not found:
        hint = did_you_mean(text, chain.from_iterable(known.values()))
        if text in model.features:
            hint = f"It is a feature: use `gitcfg modify feature '{text}'`."
        raise GitcfgError(f"There is no node, group or node set {shown(text)}.", hint)
    if len(found) > 1:
        nouns = " and of a ".join(_NOUNS[one.kind] for one in found)
        hint = f"Use {' or '.join(one.entity for one in found)}."
        raise GitcfgError(f"{shown(text)} is the name of a {nouns}.", hint)
    return found[0]


def find_definition(model: Model, target: Target) -> Node | Group | None:
    """Return the definition in the target's own file; None: there is none."""
    if target.kind == "node":
        return model.nodes.get(target.name)
    if target.kind == "group":
        return model.groups.get(target.name)
    found = model.nodesets.get(target.name)
    return None if found is None else found.definition


def listed_features(found: Node | Group | None) -> tuple[Use, ...]:
    """Return the features in the definition's own list, highest first. Positions count in this list."""
    if found is None:
        return ()
    return found.features.items if isinstance(found, Node) else found.features


def find_nodes(model: Model, target: Target, mentions: Callable[[], Mentions]) -> tuple[str, ...]:
    """Return the nodes that the target contributes to. `mentions` is called for a group only."""
    if target.kind == "node":
        return (target.name,)
    if target.kind == "nodeset":
        return model.nodesets[target.name].members
    if target.name == model.settings.default_group:
        return Roster(model).names()
    return tuple(mentions().groups.get(target.name, ()))


# Steps carried out on a draft, one after another. The last one can be undone.


class Step(msgspec.Struct, frozen=True):
    """One step in words (`add GpuNode at 0`), with the orders that carry it out."""

    words: str
    orders: tuple[Order, ...]


class Work:
    """The steps carried out on a tree so far, and the `draft` that results."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.steps: tuple[Step, ...] = ()
        self.draft = Draft(tree)

    def take(self, step: Step) -> bool:
        """Carry out a step. Return False if it changes nothing.

        Raise GitcfgError if an order cannot be carried out; the draft is then as before.
        """
        before = dict(self.draft.files)
        try:
            carry_out(self.draft, step.orders)
        except GitcfgError:
            self._redo()
            raise
        if self.draft.files == before:
            return False
        self.steps = (*self.steps, step)
        return True

    def back(self) -> Step:
        """Undo the last step. Raise IndexError if there is none."""
        last = self.steps[-1]
        self.steps = self.steps[:-1]
        self._redo()
        return last

    def onto(self, tree: Tree) -> tuple[tuple[Step, GitcfgError], ...]:
        """Carry out the steps on another tree; return those that fail, with the reason."""
        self._tree, steps = tree, self.steps
        self.steps, self.draft = (), Draft(tree)
        failed = []
        for step in steps:
            try:
                self.take(step)
            except GitcfgError as error:
                failed.append((step, error))
        return tuple(failed)

    def orders(self) -> tuple[Order, ...]:
        """Return the orders of all steps."""
        return tuple(order for step in self.steps for order in step.orders)

    def _redo(self) -> None:
        """Carry out all steps on a new draft: an order that failed may have been carried out in part."""
        self.draft = Draft(self._tree)
        carry_out(self.draft, self.orders())


# Changes of a definition that may help with a finding.


class AdvisedAction(StrEnum):
    """The action of an advice."""

    ADD = "add"
    REMOVE = "remove"
    SET = "set"
    UNSET = "unset"


class Advice(msgspec.Struct, frozen=True):
    """A change that may help. `included`: the one of two conflicting features that `name` includes."""

    action: AdvisedAction
    name: str
    included: str = ""


def find_advice(finding: Finding, found: Node | Group | None, reaches: Reach) -> tuple[Advice, ...]:
    """Return the changes of a definition that may help with a finding; `reaches` knows what includes what."""
    match finding.code:
        case "GC301":
            return (Advice(AdvisedAction.ADD, finding.subjects[0]),)
        case "GC302":
            return tuple(_removals(finding, found, reaches))
        case "GC303":
            return (Advice(AdvisedAction.SET, finding.subjects[0]),)
        case "GC304":
            bound = found.params if found is not None else {}
            return tuple(Advice(AdvisedAction.UNSET, name) for name in finding.subjects if name in bound)
        case _:
            return ()


def _removals(finding: Finding, found: Node | Group | None, reaches: Reach) -> Iterator[Advice]:
    """Yield removals from the definition's own list: of features in conflict, or that include one."""
    for name in dict.fromkeys(use.feature for use in listed_features(found)):
        if name in finding.subjects:
            yield Advice(AdvisedAction.REMOVE, name)
        else:
            included = next((each for each in finding.subjects if reaches.leads(name, each)), None)
            if included is not None:
                yield Advice(AdvisedAction.REMOVE, name, included)


# Values of parameters that only removed features used.


class IdleParameter(msgspec.Struct, frozen=True):
    """A parameter that no layer uses any more, and the features that used it."""

    param: str
    features: tuple[str, ...]


def find_idle(
    params: Iterable[str],
    label: str,
    before: Iterable[NodeClass],
    after: Iterable[NodeClass],
    declarations: Declarations,
) -> tuple[IdleParameter, ...]:
    """Return the parameters of a definition that only features used which were removed.

    A feature uses the parameters that it binds, those that these depend on, and those that its values mention
    (`$(NAME)`); so does every other layer. `label` is the definition's own layer, which does not count.
    """
    before, after = tuple(before), tuple(after)
    lost = _features(before) - _features(after)
    params = tuple(params)
    if not lost or not params:
        return ()
    mention = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, params))})(?![\w.-])")
    users_before = _find_users(before, label, declarations, mention)
    users_after = _find_users(after, label, declarations, mention)
    used_by_files = {
        name for node_class in after for entry in node_class.files.values() for name in entry.params
    }
    idle = {}
    for param in params:
        features = {user.removeprefix("feature ") for user in users_before.get(param, ())} & lost
        if features and not users_after.get(param) and param not in used_by_files:
            idle[param] = IdleParameter(param, tuple(sorted(features)))
    # A parameter is in use if another used parameter of the definition depends on it.
    others = (param for param in params if param not in idle)
    needed = {name for param in others for name in _with_dependencies(param, declarations)}
    return tuple(found for param, found in idle.items() if param not in needed)


def _features(classes: Iterable[NodeClass]) -> frozenset[str]:
    return frozenset[str]().union(*(node_class.features for node_class in classes))


def _find_users(
    classes: Iterable[NodeClass], label: str, declarations: Declarations, mention: re.Pattern[str]
) -> dict[str, set[str]]:
    """Return the layers, other than this one, that use a parameter, by parameter."""
    found = defaultdict[str, set[str]](set)
    parts = {id(part): part for node_class in classes for part in node_class.parts}
    for part in parts.values():
        for name in part.cells:
            for step, path in part.steps(name):
                if path[0] == label:
                    continue
                is_text = isinstance(step.given, str | list | dict)
                mentioned = mention.findall(msgspec.json.encode(step.given).decode()) if is_text else ()
                for used in (*_with_dependencies(name, declarations), *mentioned):
                    found[used].add(path[0])
    return found


def _with_dependencies(name: str, declarations: Declarations) -> Iterator[str]:
    """Yield a parameter and all that it depends on, at any depth."""
    done, todo = set[str](), [name]
    while todo:
        name = todo.pop()
        if name not in done:
            done.add(name)
            yield name
            parameter = declarations.find(name)
            todo += [ref.name for ref in parameter.depends] if parameter is not None else ()


# A group without nodes, checked as if one node were a member.

IMAGINED_NODE = "a-node-of-this-group"


def imagine_fleet(
    model: Model, tree: Tree, today: date, group: str, beside: Callable[[], Fleet] | None = None
) -> Fleet:
    """Return a fleet of one node that is a member of a group and of the default group."""
    origin = Origin(f"groups/{group}.yaml")
    groups = () if group == model.settings.default_group else (Ref(group, origin),)
    node = Node(IMAGINED_NODE, origin, groups=ListEdit(Op.SET, groups))
    whole = replace(model, nodes={IMAGINED_NODE: node}, nodesets={}, overrides={})
    return Fleet(take_part(whole, [IMAGINED_NODE]), tree, today, None, beside)


def check_imagined(fleet: Fleet) -> tuple[Finding, ...]:
    """Return what would be missing or in conflict on nodes of the group, without naming nodes."""
    found = (finding for finding in check(fleet) if finding.code.startswith("GC30"))
    return tuple(replace(finding, nodes=()) for finding in found)


def imagined_class(fleet: Fleet) -> NodeClass:
    """Return the class of the fleet's one node."""
    return fleet[IMAGINED_NODE].node_class


# Whether a value is valid for its parameter.

_OTHERS = ("features", "nodes", "nodesets", "overrides", "subsystems", "rules")
_BINDING_CODES = ("GC206", "GC201")


def check_binding(fleet: Fleet, found: Node | Group, param: str) -> tuple[Finding, ...]:
    """Return what is wrong with the binding of a parameter in a definition; check nothing else."""
    unread = tuple(
        finding
        for finding in findings_so_far(fleet.model)
        if any(origin.file == found.origin.file for origin in finding.origins)
    )
    binding = found.params.get(param)
    if unread or binding is None or binding.op is Op.UNSET:
        return unread
    # The checks of single bindings run on a model that has only this one.
    group = Group(found.name, found.origin, params={param: binding})
    none: dict[str, Any] = {kind: {} for kind in _OTHERS}
    model = replace(fleet.model, groups={found.name: group}, **none)
    findings = definitions(Fleet(model, fleet.tree, fleet.today, fleet.declarations.implied))
    return tuple(each for each in findings if each.code in _BINDING_CODES and binding.at in each.origins)


# Names that are abbreviated, or spelled nearly right.


class Match(msgspec.Struct, frozen=True):
    """What a text may mean. `sure` is the name that it is, or the only one that it begins.

    Otherwise `near` has similar names, or none. `is_prefix`: all names in `near` begin with the text.
    """

    sure: str | None
    near: tuple[str, ...] = ()
    is_prefix: bool = False


def match_name(text: str, known: Collection[str]) -> Match:
    """Return the names that a text may mean. Case counts only between names that differ in nothing else."""
    if text in known:
        return Match(text)
    folded = text.casefold()
    begun = tuple(sorted(name for name in known if name.casefold().startswith(folded)))
    equal = [name for name in begun if name.casefold() == folded]
    if len(begun) == 1 or len(equal) == 1:
        return Match((equal or begun)[0])
    if begun:
        return Match(None, begun, is_prefix=True)
    names = {name.casefold(): name for name in known}
    near = get_close_matches(folded[:80], names, n=3, cutoff=0.75)
    return Match(None, tuple(names[name] for name in near))


# Names and places to suggest.


def list_parameter_files(model: Model) -> tuple[str, ...]:
    """Return the files that declare parameters, those that declare most first."""
    counts = Counter(parameter.origin.file for parameter in model.parameters.values())
    return tuple(sorted(counts, key=lambda file: (-counts[file], file)))


def name_snapshot(target: Target, day: date, taken: Collection[str]) -> str:
    """Return a name for a snapshot of a commit that changes a definition; not one of those `taken`."""
    words = re.sub(r"[^A-Za-z0-9_-]+", "-", target.name).strip("-")
    name = f"{words}-{day}"
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain((name,), numbered) if each not in taken)


# The changes of a draft as a unified diff.

_NO_END = "\\ No newline at end of file"


def format_diff(draft: Draft) -> Iterator[str]:
    """Return the lines of a unified diff as git writes it, without line ends, in order of path."""
    for path, now in sorted(draft.files.items()):
        was = draft.original(path)
        old, new = "/dev/null" if was is None else f"a/{path}", "/dev/null" if now is None else f"b/{path}"
        for line in unified_diff(_lines(was), _lines(now), old, new, lineterm=""):
            yield from line.split("\n", 1)


def _lines(content: bytes | None) -> list[str]:
    """Split at "\\n" alone. A last line without one gets git's note, so that it differs from others."""
    lines = (content or b"").decode("utf-8", "replace").split("\n")
    if lines[-1]:
        lines[-1] += f"\n{_NO_END}"
        return lines
    return lines[:-1]
