"""Runs every check and folds what they find."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext

from gitcfg.check.carried import carried
from gitcfg.check.clashes import clashes
from gitcfg.check.composition import composition
from gitcfg.check.dead import dead
from gitcfg.check.definitions import definitions
from gitcfg.check.entries import entries
from gitcfg.check.finals import finals
from gitcfg.check.fold import folded
from gitcfg.check.judge import Judge
from gitcfg.check.memberships import memberships
from gitcfg.check.overrides import overrides
from gitcfg.check.parsed import begin, parsed
from gitcfg.check.references import references
from gitcfg.check.retired import retired
from gitcfg.check.structure import structure
from gitcfg.check.together import together
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Roster
from gitcfg.model import Finding
from gitcfg.render.templates import TemplateEngine

Check = Callable[[Fleet], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    references,
    structure,
    clashes,
    definitions,
    together,
    finals,
    composition,
    dead,
    memberships,
    overrides,
)


def check(
    fleet: Fleet,
    before: Roster | None = None,
    engine: TemplateEngine | None = None,
    judge: Judge | None = None,
) -> tuple[Finding, ...]:
    """Every finding about a fleet, in order of code, subject and place.

    `before` says which nodes there were until now, for what only a change can show (GC511).
    `engine` is the one that renders the fleet's templates, where there is one already.
    `judge` asks targets' own parsers about what is rendered (GC307); without it nobody does.
    """
    found = list(fleet.model.findings)
    if not any(finding.code == "GC104" for finding in found):
        if judge is not None:
            begin(fleet, judge)
        for run in CHECKS:
            found += run(fleet)
        with nullcontext(engine) if engine else TemplateEngine(fleet.templates) as templates:
            found += entries(fleet, templates)
            found += carried(fleet, templates)
            found += parsed(fleet, templates, judge, tuple(found)) if judge is not None else ()
        found += fleet.layers.findings
        found += retired(fleet, before) if before is not None else ()
    return folded(found)
