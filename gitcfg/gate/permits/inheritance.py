"""What rules take along that name features: what includes these, their subsystems, and what those read.

A subsystem is a feature's that runs on nodes with the feature; one that runs on all nodes is nobody's.
"""

from collections import deque
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from gitcfg.gate.permits.named import Thing, overlaps
from gitcfg.git.tree import Tree, changed_paths
from gitcfg.load.repository import is_repository, load
from gitcfg.model import Model, Ref, Rule, Subsystem
from gitcfg.model.names import shown

_READ = ("features", "subsystems")


class Inherited(Ref, frozen=True, gc=False):
    """What a rule names by naming a feature, where that is said, and why."""

    why: str = ""


def inherits_any(rules: Iterable[Rule]) -> bool:
    """Is there anything of features to be taken along?"""
    return any(map(_inherits, rules))


def widen_rules(rules: tuple[Rule, ...], trees: Iterable[Tree | None]) -> tuple[Rule, ...]:
    """Rules that name what they take with them, by what any of some versions says of features."""
    if not inherits_any(rules):
        return rules
    models = [load(tree) for tree in _distinct(trees)]
    return tuple(_widen(rule, models) if _inherits(rule) else rule for rule in rules)


def inherits_same(rules: tuple[Rule, ...], one: Tree | None, other: Tree | None) -> bool:
    """Do rules take the same along in two versions?"""
    if not inherits_any(rules) or len(_distinct((one, other))) < 2:
        return True
    ours, theirs = (map(_names, widen_rules(rules, (tree,))) for tree in (one, other))
    return list(ours) == list(theirs)


def _names(rule: Rule) -> Mapping[str, frozenset[str]]:
    things = rule.permit.things() if rule.permit is not None else {}
    return {kind: frozenset(ref.name for ref in refs) for kind, refs in things.items()}


def find_reasons(rules: Iterable[Rule], thing: Thing) -> tuple[Inherited, ...]:
    """Why rules are about something that they do not name themselves."""
    found = (_reason(rule, thing) for rule in rules)
    return tuple(dict.fromkeys(reason for reason in found if reason is not None))


def _reason(rule: Rule, thing: Thing) -> Inherited | None:
    refs = rule.permit.things()[thing.kind] if rule.permit is not None else ()
    named = [ref for ref in refs if overlaps(ref.name, thing.name)]
    inherited = [ref for ref in named if isinstance(ref, Inherited)]
    return inherited[0] if inherited and len(inherited) == len(named) else None


def _inherits(rule: Rule) -> bool:
    return rule.permit is not None and rule.permit.inherit and bool(rule.permit.features)


def _distinct(trees: Iterable[Tree | None]) -> list[Tree]:
    """Those of which the others do not say the same."""
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
            of = _find_owner(subsystem, (*permit.features, *heirs.values()))
            if of is not None:
                for kind, ref in _of_subsystem(subsystem, of):
                    named[kind].setdefault(ref.name, ref)
    wider = {kind: tuple(refs.values()) for kind, refs in named.items()}
    return replace(rule, permit=replace(permit, **wider))


def _find_heirs(model: Model, refs: tuple[Ref, ...]) -> Mapping[str, Inherited]:
    """The features that include some, however far, but for these themselves."""
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


def _find_owner(subsystem: Subsystem, refs: Iterable[Ref]) -> Ref | None:
    """The first of some features that a subsystem belongs to."""
    of = subsystem.features or ()
    return next((ref for ref in refs if _is_named(ref.name, of)), None)


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
