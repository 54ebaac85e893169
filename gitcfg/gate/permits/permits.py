"""What rules say of who may change what: those that refuse somebody a change."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitcfg.gate.permits.named import Thing, overlaps
from gitcfg.git.tree import Tree
from gitcfg.load.collections import gathered
from gitcfg.load.context import Reading
from gitcfg.load.rules import RULES
from gitcfg.model import Origin, Rule
from gitcfg.model.names import glob, is_glob
from gitcfg.model.rules import RuleKind

_HIDING = ("GC101", "GC103")
"""What keeps rules from being read, or hides one behind another of its name."""


class Permits(msgspec.Struct, frozen=True):
    """Rules about who may change what; `unreadable` are places of rules that nobody can understand."""

    rules: tuple[Rule, ...] = ()
    unreadable: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules or self.unreadable)


class Breach(msgspec.Struct, frozen=True):
    """A thing that somebody may not touch, where it stands, and the rules that say so, all of one kind."""

    thing: Thing
    origin: Origin
    rules: tuple[Rule, ...]

    @property
    def forbidden(self) -> bool:
        """Is it said who may not, and not only who may?"""
        return self.rules[0].kind is RuleKind.FORBID

    @property
    def by_nobody(self) -> bool:
        """May nobody at all?"""
        return self.forbidden and any(_is_everybody(_by(rule)) for rule in self.rules)


def load_permits(tree: Tree | None) -> Permits:
    """Those of a tree; nothing else of it is read. Where there are no rules that costs nothing."""
    if tree is None or not any(True for _ in tree.entries(RULES.folder)):
        return Permits()
    reading = Reading(tree)
    found = gathered(reading, RULES)
    said = tuple(rule for rule in found.values() if rule.permit is not None)
    hidden = {finding.subjects[0] for finding in reading.findings if finding.code in _HIDING}
    return Permits(said, tuple(sorted(reading.unread.get(RULES.folder, set()) | hidden)))


def find_breaches(
    rules: Iterable[Rule], who: tuple[str, ...], things: Mapping[Thing, Origin]
) -> Iterator[Breach]:
    """What somebody of these names may not touch of some things; no names: it is not known who it is."""
    rules = tuple(rules)
    for thing, origin in things.items():
        against = find_refusing(rules, who, thing)
        if against:
            yield Breach(thing, origin, against)


def find_refusing(rules: Iterable[Rule], who: tuple[str, ...], thing: Thing) -> tuple[Rule, ...]:
    """The rules that forbid it to who; else, if only others are allowed to, those that allow it to them."""
    about = find_rules(rules, thing)
    forbidding = tuple(rule for rule in about if rule.kind is RuleKind.FORBID and _may_mean(rule, who))
    allowing = tuple(rule for rule in about if rule.kind is RuleKind.ALLOW)
    if forbidding or not allowing:
        return forbidding
    # Who may touch one name of several may not therefore touch all.
    enough = all if is_glob(thing.name) else any
    return () if enough(_admits(rule, who) for rule in allowing) else allowing


def find_rules(rules: Iterable[Rule], thing: Thing) -> tuple[Rule, ...]:
    """The rules that say who may touch something."""
    return tuple(rule for rule in rules if _is_about(rule, thing))


def _is_about(rule: Rule, thing: Thing) -> bool:
    return rule.permit is not None and any(
        overlaps(ref.name, thing.name) for ref in getattr(rule.permit, thing.kind)
    )


def _may_mean(rule: Rule, who: tuple[str, ...]) -> bool:
    """Is it about somebody? A signer may be known by a pattern: then it is about all whom that may be.

    Servers that know names in any case tell hooks what was typed.
    """
    said = _by(rule)
    return _is_everybody(said) or any(
        overlaps(one.casefold(), name.casefold()) for one in said for name in who
    )


def _admits(rule: Rule, who: tuple[str, ...]) -> bool:
    said = _by(rule)
    return _is_everybody(said) or any(glob(one).matches(name) for one in said for name in who)


def _by(rule: Rule) -> tuple[str, ...]:
    return tuple(ref.name for ref in rule.permit.by) if rule.permit is not None else ()


def _is_everybody(said: tuple[str, ...]) -> bool:
    """Nobody in particular is everybody, be it known who it is or not."""
    return not said or any(set(one) == {"*"} for one in said)
