"""Answers to deciding: solved, or unsolved with the rules, bindings and lists that are the cause."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.compile.rules.slots import RuleView
from gitcfg.model import Origin, Ref
from gitcfg.model.rules import Allocation, Count, Rule


class Cause(msgspec.Struct, frozen=True):
    """One demand, in words, and where it is written. `part`: which of a rule's demands it is, if not all."""

    text: str
    origins: tuple[Origin, ...]
    rule: str | None = None
    part: str = ""


class Causes:
    """Gives each cause a key, the same for equal ones."""

    def __init__(self) -> None:
        self._known: dict[str, Cause] = {}

    def key(self, cause: Cause) -> str:
        """The key of a cause."""
        key = "\n".join((cause.text, *map(str, cause.origins)))
        self._known.setdefault(key, cause)
        return key

    def rule(self, rule: Rule, demand: str, *origins: Origin, part: str = "") -> str:
        """The key of what a rule demands, one of the demands that it may have."""
        text = f"rule {rule.name}: {demand}"
        return self.key(Cause(text, origins or (rule.origin,), rule.name, part))

    def count(self, rule: Rule, feature: Ref, count: Count) -> str:
        """The key of how many a rule demands or allows."""
        each = f" for each {rule.per.name}" if rule.per is not None else ""
        return self.rule(rule, f"{count} of {feature.name}{each}")

    def named(self, keys: Iterable[str]) -> tuple[Cause, ...]:
        """The causes of some keys."""
        known: Mapping[str, Cause] = self._known
        return tuple(known[key] for key in keys)


# What comes of deciding for a fleet: allocations, or demands that cannot hold together, or neither.


class Solved(msgspec.Struct, frozen=True):
    """What is decided, by rule; of a rule that decides nothing there is none.

    `aside` are rules that are wrong themselves: nobody knows what they ask, and what stands for them stays.
    """

    allocations: Mapping[str, Allocation]
    aside: tuple[str, ...] = ()


class Unsolved(msgspec.Struct, frozen=True):
    """These cannot hold together, and could if any single one were left out.

    `nodes` are those concerned. Leaving `suggestion` out would let everything be decided.
    """

    causes: tuple[Cause, ...]
    nodes: tuple[str, ...]
    suggestion: Cause | None


class Failing(Exception):
    """An expression of a rule failed, or its domain means nothing: it is not known what to decide."""

    def __init__(self, cause: Cause, problem: str, nodes: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.cause = cause
        self.nodes = nodes


# Rules of which it is not known what they ask: nothing is decided then.


def refuse_failed(ruled: RuleView, rules: Iterable[Rule]) -> None:
    """After they were asked.

    Raises:
        Failing: An expression of one of them failed somewhere.
    """
    for rule in rules:
        found = ruled.failed.get(rule.name)
        if found:
            nodes = sorted({slot.partition("/")[0] for slot in found})
            origin = rule.where.origin if rule.where is not None else rule.origin
            raise Failing(
                Cause(f"rule {rule.name}", (origin,), rule.name), found[min(found)].message, tuple(nodes)
            )
