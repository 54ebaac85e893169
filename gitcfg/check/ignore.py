"""Known warnings that `ignore` in gitcfg.yaml leaves out, and what is wrong with its entries (GC102, GC518).

They are left out last, of everything that was found: so a check that takes over from an earlier one, or whose
answer was kept, tells what a whole check of the same tree would.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING

from gitcfg.check.codes import CODES
from gitcfg.check.fold import folded, of
from gitcfg.model import Finding, Ignore, Ignored, Severity
from gitcfg.model.delivery import is_over
from gitcfg.model.names import did_you_mean, shown

if TYPE_CHECKING:  # what is remembered needs no fleet
    from gitcfg.compile.fleet import Fleet

LEFT_OVER = "GC518"
_AT_TIMES = frozenset(("GC201", "GC307"))
"""Errors that are warnings at times; only then can they be ignored."""
_OF_MANY = frozenset(("GC510",))
"""Told once of all parameters that are alike; others are about one thing, though they may name two."""


def ignores(fleet: "Fleet") -> Iterator[Finding]:
    """What is wrong with the codes that entries name."""
    for entry in fleet.model.settings.ignore:
        if entry.code not in CODES:
            message, hint = f"There is no finding {shown(entry.code)}.", did_you_mean(entry.code, CODES)
        elif entry.code == LEFT_OVER:
            message, hint = f"{LEFT_OVER} cannot be ignored.", "Take the entry away that is left over."
        elif not is_ignorable(entry.code):
            message, hint = f"{entry.code} is an error, and only warnings can be ignored.", ""
        else:
            continue
        yield of("GC102", entry.code, message, [entry.origin], hint=hint)


def is_ignorable(code: str) -> bool:
    """Can findings of a code be warnings, which may be left out?"""
    known = CODES.get(code)
    warns = known is not None and known.severity is Severity.WARNING
    return (warns and code != LEFT_OVER) or code in _AT_TIMES


def without_ignored(
    findings: Iterable[Finding], entries: Iterable[Ignore], today: date, parsed: bool
) -> tuple[tuple[Finding, ...], tuple[Ignored, ...]]:
    """The findings that count, those about the entries among them, and those that are left out.

    `parsed`: targets' own parsers were asked. Where they were not, nothing is said of entries for GC307.
    """
    findings, entries = tuple(findings), tuple(entries)
    if not entries:
        return findings, ()
    by_code: dict[str, list[Ignore]] = {}
    for entry in entries:
        if is_ignorable(entry.code) and not (entry.until and is_over(entry.until, today)):
            by_code.setdefault(entry.code, []).append(entry)
    kept, ignored, used = list[Finding](), list[Ignored](), set[Ignore]()
    for finding in findings:
        matching = () if finding.is_error else _matching(finding, by_code.get(finding.code, ()))
        used.update(matching)
        if matching and _covers(matching, finding):
            ignored.append(Ignored(finding, matching[0]))
        else:
            kept.append(finding)
    unused = (entry for entry in entries if entry not in used and is_ignorable(entry.code))
    over = [_left_over(entry, today) for entry in unused if parsed or entry.code != "GC307"]
    return (folded([*kept, *over]) if over else tuple(kept)), tuple(ignored)


def _matching(finding: Finding, entries: Iterable[Ignore]) -> tuple[Ignore, ...]:
    return tuple(one for one in entries if one.subject is None or one.subject in finding.subjects)


def _covers(matching: Iterable[Ignore], finding: Finding) -> bool:
    """Do entries leave out all that a warning is about? One about many alike is told until each is named."""
    named = {one.subject for one in matching}
    return finding.code not in _OF_MANY or None in named or named.issuperset(finding.subjects)


def _left_over(entry: Ignore, today: date) -> Finding:
    about = f"{entry.code} of {shown(entry.subject)}" if entry.subject is not None else entry.code
    if entry.until is not None and is_over(entry.until, today):
        message = f"{about} was to be ignored until {entry.until}."
        hint = f"Take the entry away, or give it a later end. Its reason: {entry.reason}"
    else:
        message = f"{about} is to be ignored, and there is no such warning."
        hint = f"Take the entry away. Its reason: {entry.reason}"
    subjects = (entry.code, *((entry.subject,) if entry.subject is not None else ()))
    return of(LEFT_OVER, subjects, message, [entry.origin], hint=hint)
