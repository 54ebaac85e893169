"""Why something must hold: rules, bindings and lists, by the keys under which the pure problems know them."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.model import Origin, Ref
from gitcfg.model.rules import Count, Rule


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
