"""Rules for who may change what: the things that they name or imply, and the people that they refuse.

A rule that names features implies the features that include these, their subsystems, and what those read.
A subsystem belongs to a feature if it runs on nodes with the feature; one that runs on all nodes belongs to
none.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gitcfg.git.tree import Tree, changed_paths
from gitcfg.load.collections import load_sections
from gitcfg.load.definitions import RULES
from gitcfg.load.loader import Loader
from gitcfg.load.repository import is_repository, load
from gitcfg.model import Model, Origin, Ref, Rule, Subsystem
from gitcfg.model.names import glob, is_glob, shown
from gitcfg.model.rules import RuleKind


class Thing(NamedTuple):
    """A thing that a rule can name: its kind, by the key of `forbid` and `allow`, and its name."""

    kind: str
    name: str


_MADE = re.compile(r"\$\{[^}]*\}")


def to_glob(name: str) -> str:
    """Return the glob of all names that instances can make of a name (`SLOT_${as}`)."""
    return _MADE.sub("*", name) if "${" in name else name


@lru_cache(maxsize=1 << 14)
def overlaps(one: str, other: str) -> bool:
    """Return whether two names or globs have a name in common."""
    if not is_glob(one):
        return one == other or (is_glob(other) and glob(other).matches(one))
    return _have_common(one, other) if is_glob(other) else glob(one).matches(other)


def _have_common(one: str, other: str) -> bool:
    """Return whether two globs have a name in common.

    `reached` are the positions in the other one that correspond to a position in the first.
    """
    reached = _skip_stars({0}, other)
    for character in one:
        if character == "*":
            reached = set(range(min(reached), len(other) + 1)) if reached else reached
        else:
            reached = _skip_stars(_step(reached, character, other), other)
    return len(other) in reached


def _step(reached: set[int], character: str, other: str) -> set[int]:
    """Return the positions after one more character; a star matches it and stays."""
    there = {place: other[place] for place in reached if place < len(other)}
    stayed = {place for place, found in there.items() if found == "*"}
    fitting = {place for place, found in there.items() if "?" in (character, found) or character == found}
    return stayed | {place + 1 for place in fitting}


def _skip_stars(reached: set[int], other: str) -> set[int]:
    """Return the positions and those after stars, which may match nothing."""
    found = set(reached)
    for place in sorted(reached):
        while place < len(other) and other[place] == "*":
            place += 1
            found.add(place)
    return found


_HIDING = ("GC101", "GC103")
"""The findings because of which rules cannot be read, or a rule is hidden by another of its name."""


class Permits(msgspec.Struct, frozen=True):
    """Rules for who may change what; `unreadable` are the places of rules that cannot be read."""

    rules: tuple[Rule, ...] = ()
    unreadable: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules or self.unreadable)


class Breach(msgspec.Struct, frozen=True):
    """A thing that a person may not touch, where it is, and the rules against it, all of one kind."""

    thing: Thing
    origin: Origin
    rules: tuple[Rule, ...]

    @property
    def forbidden(self) -> bool:
        """Whether a rule forbids the change, instead of allowing it to others only."""
        return self.rules[0].kind is RuleKind.FORBID

    @property
    def by_nobody(self) -> bool:
        """Whether the change is forbidden to all people."""
        return self.forbidden and any(_is_everybody(_by(rule)) for rule in self.rules)


def load_permits(tree: Tree | None) -> Permits:
    """Load only the rules of a tree. Without a folder of rules nothing is read."""
    if tree is None or not any(True for _ in tree.entries(RULES.folder)):
        return Permits()
    loader = Loader(tree)
    found = load_sections(loader, RULES)
    permits = tuple(rule for rule in found.values() if rule.permit is not None)
    hidden = {finding.subjects[0] for finding in loader.findings if finding.code in _HIDING}
    return Permits(permits, tuple(sorted(loader.unread.get(RULES.folder, set()) | hidden)))


def find_breaches(
    rules: Iterable[Rule], who: tuple[str, ...], things: Mapping[Thing, Origin]
) -> Iterator[Breach]:
    """Yield what a person with these names may not touch. No names: the person is unknown."""
    rules = tuple(rules)
    for thing, origin in things.items():
        against = find_refusing(rules, who, thing)
        if against:
            yield Breach(thing, origin, against)


def find_refusing(rules: Iterable[Rule], who: tuple[str, ...], thing: Thing) -> tuple[Rule, ...]:
    """Return the rules that forbid a thing to a person, or those that allow it only to others."""
    about = find_rules(rules, thing)
    forbidding = tuple(rule for rule in about if rule.kind is RuleKind.FORBID and _may_mean(rule, who))
    allowing = tuple(rule for rule in about if rule.kind is RuleKind.ALLOW)
    if forbidding or not allowing:
        return forbidding
    # A person who may touch one name of several may not touch all of them for that reason.
    enough = all if is_glob(thing.name) else any
    return () if enough(_admits(rule, who) for rule in allowing) else allowing


def find_rules(rules: Iterable[Rule], thing: Thing) -> tuple[Rule, ...]:
    """Return the rules about a thing."""
    ruling = ((rule, getattr(rule.permit, thing.kind)) for rule in rules if rule.permit is not None)
    return tuple(rule for rule, refs in ruling if _is_named(thing.name, refs))


def _may_mean(rule: Rule, who: tuple[str, ...]) -> bool:
    """Return whether a rule may apply to a person. A signer known by a pattern may be anyone who matches it.

    Some servers ignore case in names, and give hooks the name as it was typed.
    """
    by = _by(rule)
    return _is_everybody(by) or any(overlaps(one.casefold(), name.casefold()) for one in by for name in who)


def _admits(rule: Rule, who: tuple[str, ...]) -> bool:
    by = _by(rule)
    return _is_everybody(by) or any(glob(one).matches(name) for one in by for name in who)


def _by(rule: Rule) -> tuple[str, ...]:
    return tuple(ref.name for ref in rule.permit.by) if rule.permit is not None else ()


def _is_everybody(by: tuple[str, ...]) -> bool:
    """Return whether `by` is empty or has `*`, and so means all people."""
    return not by or any(set(one) == {"*"} for one in by)


# Things that rules imply

_READ = ("features", "subsystems")


class Inherited(Ref, frozen=True, gc=False):
    """A thing implied by naming a feature, where that is defined, and why."""

    why: str = ""


def inherits_any(rules: Iterable[Rule]) -> bool:
    """Return whether any rule implies something."""
    return any(map(_inherits, rules))


def widen_rules(rules: tuple[Rule, ...], trees: Iterable[Tree | None]) -> tuple[Rule, ...]:
    """Return rules that name also what they imply in any of some versions."""
    if not inherits_any(rules):
        return rules
    models = [load(tree) for tree in _distinct(trees)]
    return tuple(_widen(rule, models) if _inherits(rule) else rule for rule in rules)


def inherits_same(rules: tuple[Rule, ...], one: Tree | None, other: Tree | None) -> bool:
    """Return whether rules imply the same in two versions."""
    if not inherits_any(rules) or len(_distinct((one, other))) < 2:
        return True

    def list_names(tree: Tree | None) -> list[dict[str, set[str]]]:
        permits = (rule.permit for rule in widen_rules(rules, (tree,)) if rule.permit is not None)
        return [{kind: {ref.name for ref in refs} for kind, refs in one.things().items()} for one in permits]

    return list_names(one) == list_names(other)


def find_reasons(rules: Iterable[Rule], thing: Thing) -> tuple[Inherited, ...]:
    """Return why rules are about something that they do not name themselves."""
    found: dict[Inherited, None] = {}
    for rule in rules:
        refs = rule.permit.things()[thing.kind] if rule.permit is not None else ()
        named = [ref for ref in refs if overlaps(ref.name, thing.name)]
        inherited = [ref for ref in named if isinstance(ref, Inherited)]
        if inherited and len(inherited) == len(named):
            found[inherited[0]] = None
    return tuple(found)


def _inherits(rule: Rule) -> bool:
    return rule.permit is not None and rule.permit.inherit and bool(rule.permit.features)


def _distinct(trees: Iterable[Tree | None]) -> list[Tree]:
    """Return the versions whose features and subsystems differ."""
    found: list[Tree] = []
    for tree in trees:
        if tree is not None and is_repository(tree) and all(changed_paths(one, tree, _READ) for one in found):
            found.append(tree)
    return found


def _widen(rule: Rule, models: Iterable[Model]) -> Rule:
    assert rule.permit is not None
    permit = rule.permit
    named = {kind: {ref.name: ref for ref in refs} for kind, refs in permit.things().items()}
    for model in models:
        heirs = _find_heirs(model, permit.features)
        for ref in heirs.values():
            named["features"].setdefault(ref.name, ref)
        for subsystem in model.subsystems.values():
            owners, features = subsystem.features or (), (*permit.features, *heirs.values())
            of = next((ref for ref in features if _is_named(ref.name, owners)), None)
            if of is not None:
                for kind, ref in _of_subsystem(subsystem, of):
                    named[kind].setdefault(ref.name, ref)
    wider = {kind: tuple(refs.values()) for kind, refs in named.items()}
    return replace(rule, permit=replace(permit, **wider))


def _find_heirs(model: Model, refs: tuple[Ref, ...]) -> Mapping[str, Inherited]:
    """Return the features that include some, directly or not, without these themselves."""
    by: dict[str, list[Ref]] = {}
    for feature in model.features.values():
        for use in feature.include:
            by.setdefault(use.feature, []).append(Ref(feature.name, use.origin))
    roots = dict.fromkeys(name for name in (*model.features, *by) if _is_named(name, refs))
    found: dict[str, Inherited] = {}
    todo = deque((root, root) for root in roots)
    while todo:
        name, root = todo.popleft()
        for heir in by.get(name, ()):
            if heir.name not in found and heir.name not in roots:
                through = f" through {shown(name)}" if name != root else ""
                why = f"{shown(heir.name)} includes {shown(root)}{through}"
                found[heir.name] = Inherited(heir.name, heir.origin, why)
                todo.append((heir.name, root))
    return found


def _is_named(name: str, refs: Iterable[Ref]) -> bool:
    return any(overlaps(ref.name, name) for ref in refs)


def _of_subsystem(subsystem: Subsystem, of: Ref) -> list[tuple[str, Inherited]]:
    name = shown(subsystem.name)
    further = f", and {of.why}" if isinstance(of, Inherited) else ""
    belongs = f"{name} is a subsystem of {shown(of.name)}{further}"
    reads = f"{name}, a subsystem of {shown(of.name)}, reads it{further}"
    return [
        ("subsystems", Inherited(subsystem.name, subsystem.origin, belongs)),
        *(("params", Inherited(ref.name, ref.origin, reads)) for ref in subsystem.params),
        *(("files", Inherited(path, subsystem.origin, reads)) for path in subsystem.files),
    ]
