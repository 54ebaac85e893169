"""Rules of which it is not known what they ask: nothing is decided then."""

from collections.abc import Iterable

from gitcfg.compile.ruled.view import Ruled
from gitcfg.model.rules import Rule
from gitcfg.solve.fleet.answers import Failing
from gitcfg.solve.fleet.causes import Cause


def refuse_failed(ruled: Ruled, rules: Iterable[Rule]) -> None:
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
