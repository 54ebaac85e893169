"""Answer whether somebody may change a thing, or all that a file says: `gitcfg may`."""

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from gitcfg.check.references import JUDGING
from gitcfg.gate.permits.changes import find_touched
from gitcfg.gate.permits.rules import (
    Thing,
    find_reasons,
    find_refusing,
    find_rules,
    load_permits,
    overlaps,
    widen_rules,
)
from gitcfg.git.tree import Entry, Tree
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Model, Rule
from gitcfg.model.names import did_you_mean, is_glob, shown
from gitcfg.model.rules import PERMITTED, RuleKind

KINDS_BY_WORD = {
    "feature": "features",
    "param": "params",
    "parameter": "params",
    "group": "groups",
    "node": "nodes",
    "file": "files",
    "subsystem": "subsystems",
    "template": "templates",
    "secret": "secrets",
    "rule": "rules",
}
"""Kinds as one says them, and as keys of `forbid` and `allow`."""
_COMING = ("nodes", "files")
"""What is named before there is any."""


def known_names(model: Model, kind: str) -> Collection[str]:
    """Return the names that definitions give to things of a kind."""
    if kind == "params":
        return {*model.parameters, *(name for name, _ in model.bindings())}
    if kind == "templates":
        return {*model.templates, *model.sources}
    if kind == "rules":
        return {*model.rules, *JUDGING}
    if kind == "groups":
        return {*model.groups, model.settings.default_group}
    return () if kind == "files" else getattr(model, kind)


def describe_unknown(model: Model, thing: Thing) -> str:
    """Return a note that nothing has this name, which may be a typing error; or ""."""
    known = known_names(model, thing.kind)
    if thing.kind in _COMING or is_glob(thing.name) or any(overlaps(one, thing.name) for one in known):
        return ""
    word = next(word for word, kind in KINDS_BY_WORD.items() if kind == thing.kind)
    return f"There is no {word} {shown(thing.name)} yet. {did_you_mean(thing.name, known)}".rstrip()


# Answers


class Answer(msgspec.Struct, frozen=True):
    """Whether somebody may change a thing. `rules` refuse it, or else are those about it."""

    thing: Thing
    may: bool
    rules: tuple[Rule, ...]


def find_answers(tree: Tree, who: str, what: str) -> tuple[Answer, ...]:
    """Return the answers by the rules of a tree. Raise GitcfgError if they cannot be read, or nothing is
    meant.
    """
    said = load_permits(tree)
    if said.unreadable:
        raise GitcfgError(f"Who may change what cannot be read: {', '.join(said.unreadable)}.")
    rules = widen_rules(said.rules, (tree,))
    return tuple(_answer(rules, who, thing) for thing in _find_things(tree, what))


def _answer(rules: tuple[Rule, ...], who: str, thing: Thing) -> Answer:
    against = find_refusing(rules, (who,), thing)
    allowing = tuple(rule for rule in find_rules(rules, thing) if rule.kind is RuleKind.ALLOW)
    return Answer(thing, not against, against or allowing)


def _find_things(tree: Tree, what: str) -> tuple[Thing, ...]:
    word, _, name = what.partition("/")
    stands = tree.entry(what) is not None
    is_path = stands or name.endswith(".yaml")
    if name and (word in KINDS_BY_WORD or (word in PERMITTED and not is_path)):
        return (Thing(KINDS_BY_WORD.get(word, word), name),)
    if what.startswith("/"):
        return (Thing("files", what),)
    if what in JUDGING:
        return (Thing("rules", what),)
    if not stands:
        called = [kind for kind, key in KINDS_BY_WORD.items() if what in known_names(load(tree), key)]
        near = did_you_mean(word, KINDS_BY_WORD) if name and not is_path else ""
        hint = f"Did you mean {called[0]}/{what}?" if called else near
        known = "Say a kind and a name (feature/X), a path on nodes, or one of the repository's files."
        raise GitcfgError(f"There is nothing that {shown(what)} means.", hint or known)
    change = find_touched(tree, _Without(tree, what))
    return tuple(sorted({thing for touch in change.values() for thing in touch.things()}))


class _Without:
    """A tree without one file."""

    def __init__(self, tree: Tree, path: str) -> None:
        self.commit = tree.commit
        self._tree = tree
        self._path = path

    def entries(self, folder: str) -> Iterator[Entry]:
        return (entry for entry in self._tree.entries(folder) if entry.path != self._path)

    def entry(self, path: str) -> Entry | None:
        return self._tree.entry(path) if path != self._path else None

    def read(self, entry: Entry) -> bytes:
        return self._tree.read(entry)


def answers_to_json(commit: str | None, who: str, found: tuple[Answer, ...]) -> dict[str, Any]:
    """Return the record of answers: `gitcfg.may/1`."""
    return {
        "schema": "gitcfg.may/1",
        "commit": commit,
        "who": who,
        "answers": [
            {
                "kind": answer.thing.kind,
                "name": answer.thing.name,
                "may": answer.may,
                "rules": [_rule_to_json(rule, answer.thing) for rule in answer.rules],
            }
            for answer in found
        ],
    }


def _rule_to_json(rule: Rule, thing: Thing) -> dict[str, Any]:
    by = [ref.name for ref in rule.permit.by] if rule.permit is not None else []
    origin = msgspec.to_builtins(rule.origin)
    because = next((reason.why for reason in find_reasons((rule,), thing)), None)
    return {"name": rule.name, "kind": str(rule.kind), "by": by, "because": because, "origin": origin}
