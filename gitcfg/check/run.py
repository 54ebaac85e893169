"""Runs every check and merges the findings."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Protocol

import msgspec

import gitcfg.progress as progress
from gitcfg.check.expressions import Expressions
from gitcfg.check.files import WrittenValues, entries
from gitcfg.check.findings import folded
from gitcfg.check.nodes import Relations, stopped
from gitcfg.check.overrides import delivery, overrides, retired
from gitcfg.check.references import references, rule_names
from gitcfg.check.results import ignores, with_causes, without_ignored
from gitcfg.check.rules.ruling import Ledger, Ruling
from gitcfg.check.secrets import OpenSecrets, SecretReaders, markers, sealed
from gitcfg.check.structure import clashes, structure
from gitcfg.check.target_parsers import Judge, begin, parsed, unjudged
from gitcfg.check.usage import Usage, UsageWatch, endings
from gitcfg.check.values import DiscardedValues, FinalValues, definitions, memberships
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import Roster
from gitcfg.compile.selection import Stopped
from gitcfg.compile.surface import Surface
from gitcfg.model import Finding
from gitcfg.render.templates import TemplateEngine

Check = Callable[[Fleet], Iterator[Finding]]


class Watch(Protocol):
    """A check that is given every class with its surface."""

    def see(self, node_class: NodeClass, surface: Surface) -> Iterable[Finding]:
        """Return what is wrong with one class."""
        ...

    def end(self) -> Iterable[Finding]:
        """Return what is known only after all classes."""
        ...


DEFINED: tuple[Check, ...] = (
    references,
    rule_names,
    structure,
    clashes,
    definitions,
    memberships,
    sealed,
    markers,
    ignores,
)
"""The checks of definitions."""


class RuleResults(Protocol):
    """The results of checking rules."""

    @property
    def findings(self) -> Iterable[Finding]:
        """The findings about rules."""
        ...

    def ledger(self) -> Ledger | None:
        """Return what the next check may start from, or None."""
        ...


class Examined(msgspec.Struct, frozen=True):
    """The result of checking definitions and classes, before findings about all nodes together.

    `parsed` are the findings of targets' own parsers. `usage` is None if nodes could not be checked. `ruling`
    are the findings of rules, which concern many nodes. `unjudged` are the repository's files with entries
    whose target's parser is not installed.
    """

    findings: list[Finding]
    usage: Usage | None
    parsed: list[Finding] = []
    ruling: RuleResults | None = None
    unjudged: frozenset[str] = frozenset()


def check(
    fleet: Fleet,
    before: Roster | None = None,
    engine: TemplateEngine | None = None,
    judge: Judge | None = None,
) -> tuple[Finding, ...]:
    """Return every finding about a fleet, in order of code, subject and place.

    `before` has the nodes until now, for findings that only a change can have (GC511). `engine` renders the
    fleet's templates, if the caller has one already. `judge` uses targets' own parsers on what is rendered
    (GC307); without it that is not checked.
    """
    examined = examine(fleet, engine, judge)
    found = with_causes(fleet.model, folded([*concluded(fleet, examined, before), *examined.parsed]))
    return without_ignored(found, fleet.model.settings.ignore, fleet.today, judge is not None)[0]


def examine(
    fleet: Fleet,
    engine: TemplateEngine | None = None,
    judge: Judge | None = None,
    ruling: RuleResults | None = None,
) -> Examined:
    """Check every definition and every class of nodes. `ruling` are results of rules, if known already."""
    found = list(fleet.model.findings)
    if any(finding.code == "GC104" for finding in found):
        return Examined(found, None)
    if judge is not None:
        begin(fleet, judge)
    unknown = list(_unknown(fleet))  # first, since this also creates the instances, which have bindings
    for run in DEFINED:
        progress.note("checking", run.__name__.replace("_", " "))
        found += run(fleet)
    if unknown:
        return Examined([*found, *unknown], None)
    found += overrides(fleet)
    progress.note("checking rules")
    ruling = ruling or Ruling(fleet)
    found += ruling.findings
    watch = UsageWatch(fleet, fleet.surfaces)
    with nullcontext(engine) if engine else TemplateEngine(fleet.templates) as templates:
        found += entries(fleet, templates)
        expressions = Expressions(fleet, fleet.surfaces, judge)
        found += watched(fleet, templates, watch, expressions)
        told = parsed(fleet, templates, judge, tuple(found)) if judge is not None else ()
        of_parsers = [*told, *expressions.refused()]
    found += fleet.layers.findings
    lacking = unjudged(fleet, judge) if judge is not None else frozenset()
    return Examined(found, watch.usage, of_parsers, ruling, lacking)


def _unknown(fleet: Fleet) -> Iterator[Finding]:
    """Yield an expression that did not finish, if what nodes have depends on it."""
    try:
        _ = fleet.classes, fleet.walking_in
        for _ in fleet.collecting.indexes() if fleet.collecting is not None else ():
            """The loop evaluates the conditions."""
    except Stopped as found:
        yield stopped(fleet.tree, found)


def concluded(
    fleet: Fleet, examined: Examined, before: Roster | None, roster: Roster | None = None
) -> list[Finding]:
    """Return the findings without those of parsers, but with those about all nodes together.

    `roster` has all nodes, if the fleet has only some.
    """
    if examined.usage is None:
        return examined.findings
    roster = roster or fleet.roster
    gone = retired(roster, before) if before is not None else ()
    together = (*endings(fleet, examined.usage, roster), *delivery(fleet, roster))
    return [*examined.findings, *together, *gone]


def watched(fleet: Fleet, engine: TemplateEngine, *others: Watch) -> Iterator[Finding]:
    """Yield what is wrong with nodes; each class is checked once."""
    surfaces = fleet.surfaces
    watches: list[Watch] = [
        Relations(fleet, surfaces),
        FinalValues(fleet, surfaces),
        WrittenValues(fleet, surfaces, engine),
        SecretReaders(fleet, engine),
        OpenSecrets(fleet, surfaces, engine),
        *others,
    ]
    if fleet.names:  # a fleet without nodes discards nothing
        watches.append(DiscardedValues(fleet, surfaces))
    judged = fleet.judged
    for node_class in judged:
        progress.note("checking nodes like", next(iter(node_class.names), ""), len(judged))
        surface = surfaces.of(node_class)
        for watch in watches:
            yield from watch.see(node_class, surface)
    progress.note("checking all nodes together")
    for watch in watches:
        yield from watch.end()
