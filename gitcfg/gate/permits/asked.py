"""What somebody asks: may they change a thing, or all that a file says?"""

from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.check.references import JUDGING
from gitcfg.gate.permits.inheritance import find_reasons, widen_rules
from gitcfg.gate.permits.known import KINDS_BY_WORD, known_names
from gitcfg.gate.permits.named import Thing
from gitcfg.gate.permits.permits import find_refusing, find_rules, load_permits
from gitcfg.gate.permits.touched import find_touched
from gitcfg.git.tree import Entry, Tree
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Rule
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.rules import PERMITTED, RuleKind


class Answer(msgspec.Struct, frozen=True):
    """May somebody change a thing? `rules` are those that refuse it, or else those that say who may."""

    thing: Thing
    may: bool
    rules: tuple[Rule, ...]


def find_answers(tree: Tree, who: str, what: str) -> tuple[Answer, ...]:
    """By the rules of a tree. GitcfgError: they cannot be read, or nothing is meant."""
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
    """`gitcfg.may/1`."""
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
