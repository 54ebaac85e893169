"""The findings of a check: the form that is cached, what `ignore` hides, and the causes of findings.

Causes: a misspelt name leaves out a feature or group, and with it all that it includes; so does a missing
feature. A file that cannot be read leaves out its nodes. Errors in a cycle or a pair of features appear on
nodes too. `ignore` is applied last, so that incremental and whole checks agree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from gitcfg.check.findings import CODES, folded, of
from gitcfg.check.structure import inclusion
from gitcfg.git.tree import Tree, fingerprint
from gitcfg.model import Feature, Finding, Group, Ignore, Ignored, Model, Origin, Severity
from gitcfg.model.delivery import is_over
from gitcfg.model.graph import reach
from gitcfg.model.names import FOLDERS, SETTINGS, SIGNERS, Glob, did_you_mean, meant, shown

if TYPE_CHECKING:
    from gitcfg.compile.fleet import Fleet

LEFT_OVER = "GC518"
_AT_TIMES = frozenset(("GC201", "GC307"))
"""Errors that are sometimes warnings; only then can they be ignored."""
_OF_MANY = frozenset(("GC510",))
"""One finding for many parameters. Findings of other codes are about one thing, even with two names."""


def ignores(fleet: "Fleet") -> Iterator[Finding]:
    """Yield what is wrong with the codes of `ignore` entries."""
    for entry in fleet.model.settings.ignore:
        if entry.code not in CODES:
            message, hint = (
                f"There is no finding {shown(entry.code)}.",
                did_you_mean(entry.code, CODES),
            )
        elif entry.code == LEFT_OVER:
            message, hint = f"{LEFT_OVER} cannot be ignored.", "Remove the obsolete entry."
        elif not is_ignorable(entry.code):
            message, hint = f"{entry.code} is an error, and only warnings can be ignored.", ""
        else:
            continue
        yield of("GC102", entry.code, message, [entry.origin], hint=hint)


def is_ignorable(code: str) -> bool:
    """Return whether findings of a code can be warnings, which may be ignored."""
    known = CODES.get(code)
    warns = known is not None and known.severity is Severity.WARNING
    return (warns and code != LEFT_OVER) or code in _AT_TIMES


def without_ignored(
    findings: Iterable[Finding], entries: Iterable[Ignore], today: date, parsed: bool
) -> tuple[tuple[Finding, ...], tuple[Ignored, ...]]:
    """Return the findings to report, with those about `ignore` entries, and the ignored ones.

    `parsed`: targets' own parsers were used. If not, unused entries for GC307 are not reported.
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
        candidates = () if finding.is_error else by_code.get(finding.code, ())
        matching = tuple(one for one in candidates if one.subject is None or one.subject in finding.subjects)
        used.update(matching)
        if matching and _covers(matching, finding):
            ignored.append(Ignored(finding, matching[0]))
        else:
            kept.append(finding)
    unused = (entry for entry in entries if entry not in used and is_ignorable(entry.code))
    over = [_left_over(entry, today) for entry in unused if parsed or entry.code != "GC307"]
    return (folded([*kept, *over]) if over else tuple(kept)), tuple(ignored)


def _covers(matching: Iterable[Ignore], finding: Finding) -> bool:
    """Return whether entries ignore a whole warning. One with many subjects is shown until all are named."""
    named = {one.subject for one in matching}
    return finding.code not in _OF_MANY or None in named or named.issuperset(finding.subjects)


def _left_over(entry: Ignore, today: date) -> Finding:
    about = f"{entry.code} of {shown(entry.subject)}" if entry.subject is not None else entry.code
    if entry.until is not None and is_over(entry.until, today):
        message = f"{about} was ignored until {entry.until}."
        hint = f"Remove the entry, or set a later end. Its reason: {entry.reason}"
    else:
        message = f"{about} is ignored, but there is no such warning."
        hint = f"Remove the entry. Its reason: {entry.reason}"
    subjects = (entry.code, *((entry.subject,) if entry.subject is not None else ()))
    return of(LEFT_OVER, subjects, message, [entry.origin], hint=hint)


# The result of a check in a form that can be cached, and its question.

FILES = (SETTINGS, SIGNERS)
PLACES = (*FILES, *FOLDERS)
"""Everything in a repository that gitcfg reads."""
WHO = (SETTINGS, "nodes", "nodesets")
"""What defines the nodes."""


class Checked(msgspec.Struct, frozen=True):
    """The findings about a fleet, and its size. `ignored` are the findings that gitcfg.yaml hides.

    `ignore` has its entries until they are applied. `unjudged`: some files were not checked, because their
    target's own parser is not installed.
    """

    findings: tuple[Finding, ...]
    nodes: int
    groups: int
    features: int
    parameters: int
    unjudged: bool = False
    ignore: tuple[Ignore, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def every(self) -> tuple[Finding, ...]:
        """All findings, with the ignored ones; lines that may have secrets are veiled because of both."""
        return (*self.findings, *(one.finding for one in self.ignored))

    @property
    def grave(self) -> bool:
        """Whether one of the findings is an error."""
        return any(finding.is_error for finding in self.findings)


def checked(model: Model, nodes: int, findings: tuple[Finding, ...], unjudged: bool = False) -> Checked:
    """Return findings with the size of the fleet."""
    sizes = (nodes, len(model.groups), len(model.features), len(model.parameters))
    return Checked(findings, *sizes, unjudged, model.settings.ignore)


def as_reported(found: Checked, today: date, parsed: bool) -> Checked:
    """Return the findings to report on a day; `parsed`: targets' own parsers were used."""
    if not found.ignore:
        return found
    kept, ignored = without_ignored(found.findings, found.ignore, today, parsed)
    return msgspec.structs.replace(found, findings=kept, ignore=(), ignored=ignored)


def question(tree: Tree, before: Tree | None, today: date, judged_by: str) -> str:
    """Return all that a check's result depends on: the tree, the previous nodes, the day, and the judge.

    `before` is None where no node can be gone. The day matters only if something has an end.
    """
    ends = any(True for folder in ("overrides", "holds") for _ in tree.entries(folder))
    until = today.isoformat() if ends else ""
    who = fingerprint(before, WHO) if before is not None else ""
    return f"check 6 {fingerprint(tree, PLACES)} {who} {until} {judged_by}"


# New findings: those that were not reported before with the same message for the same nodes.

_Fact = tuple[str, tuple[str, ...], str]


class Known:
    """The earlier findings; `finding in known` is whether a finding is one of them."""

    def __init__(self, before: Iterable[Finding]) -> None:
        self._nodes: dict[_Fact, set[str]] = {}
        for finding in before:
            self._nodes.setdefault(_fact(finding), set()).update(finding.nodes)

    def __contains__(self, finding: Finding) -> bool:
        """Return whether it was reported with the same message for all nodes that it is about now."""
        nodes = self._nodes.get(_fact(finding))
        return nodes is not None and nodes.issuperset(finding.nodes)


def counting(found: Iterable[Finding], known: Callable[[], Known], ratchet: bool) -> tuple[Finding, ...]:
    """Return what counts after a change: new findings, and without a ratchet also the known errors.

    `known` is called only where that matters, and may be slow the first time.
    """
    return tuple(each for each in found if (each.is_error and not ratchet) or each not in known())


def unlike(found: Iterable[Finding], before: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that were not known before."""
    known = Known(before)
    return tuple(finding for finding in found if finding not in known)


def _fact(finding: Finding) -> _Fact:
    return finding.code, finding.subjects, finding.message


# Causes: when the cause is fixed, the findings that follow from it disappear.

Fact = tuple[str, ...]
_MOST = 100
"""The most left-out features that are compared; more would not help a reader."""
_BROUGHT = frozenset({"GC303", "GC305", "GC306"})
_INSIDE = {"GC302": "GC204", "GC304": "GC205"}
_OF_NODES = ("nodes/", "nodesets/")


def with_causes(model: Model, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return findings, each with its cause if it follows from another of them."""
    codes = {finding.code for finding in findings}
    if len(codes) < 2 or not any(finding.is_error for finding in findings):
        return findings
    causes = _Causes(model, findings)
    return tuple(replace(finding, cause=causes.of(finding)) for finding in findings)


class _Absent(NamedTuple):
    """What an error leaves out, on some nodes or (None) anywhere."""

    fact: Fact
    nodes: frozenset[str] | None
    features: frozenset[str]
    layers: frozenset[str]
    names: frozenset[str]
    families: tuple[Glob, ...]
    files: tuple[Glob, ...]

    def concerns(self, finding: Finding) -> bool:
        return self.nodes is None or self.nodes.issuperset(finding.nodes)

    def binds(self, param: str) -> bool:
        return param in self.names or any(family.matches(param) for family in self.families)

    def takes(self, param: str) -> bool:
        """Return whether a file that is left out uses a parameter."""
        return any(glob.matches(param) for glob in self.files)


class _Causes:
    def __init__(self, model: Model, findings: Iterable[Finding]) -> None:
        self._model = model
        self._codes: dict[str, list[Finding]] = {}
        for finding in findings:
            self._codes.setdefault(finding.code, []).append(finding)
        self._facts = {finding.fact for finding in findings}
        edges = {name: tuple(targets) for name, targets in inclusion(model).items()}
        self._reach = reach(edges) if "GC201" in self._codes or "GC301" in self._codes else None
        self._named = tuple(self._misspelt())
        self._missing = tuple(self._not_there())
        self._unread = dict(self._files())
        self._circles = [one for code in ("GC202", "GC203") for one in self._codes.get(code, ())]
        places = ((place, one.fact) for one in self._circles for place in one.origins)
        self._on_circle: dict[Origin, Fact] = dict(places)

    def of(self, finding: Finding) -> Fact:
        """Return the fact from which a finding follows; empty if there is none."""
        by_code: Mapping[str, Callable[[Finding], Iterable[Fact]]] = {
            "GC203": self._of_circle,
            "GC204": self._of_conflict,
            "GC205": self._of_conflict,
            "GC301": self._of_missing,
            "GC502": self._of_unused,
            "GC510": self._of_untaken,
            "GC511": self._of_gone,
        }
        if finding.code in _INSIDE:
            fact = (_INSIDE[finding.code], *finding.subjects)
            return fact if fact in self._facts else ()
        find = self._of_value if finding.code in _BROUGHT else by_code.get(finding.code)
        return next(iter(find(finding)), ()) if find is not None else ()

    def _misspelt(self) -> Iterator[_Absent]:
        """Yield the features and groups that misspelt names probably meant."""
        hints = {finding.hint: finding.fact for finding in self._codes.get("GC201", ())[:_MOST]}
        for name, feature in self._model.features.items() if hints else ():
            if meant(name) in hints:
                yield self._absent(hints[meant(name)], None, (feature.name,))
        for name, group in self._model.groups.items() if hints else ():
            if meant(name) in hints:
                yield self._absent(hints[meant(name)], None, [use.feature for use in group.features], group)

    def _not_there(self) -> Iterator[_Absent]:
        """Yield missing features on which others depend."""
        nodes: dict[str, set[str]] = {}
        for finding in self._codes.get("GC301", ()):
            nodes.setdefault(finding.subjects[0], set()).update(finding.nodes)
        for name, where in list(nodes.items())[:_MOST]:
            yield self._absent(("GC301", name), frozenset(where), [name])

    def _absent(
        self, fact: Fact, nodes: frozenset[str] | None, names: Iterable[str], *layers: Group
    ) -> _Absent:
        known = [name for name in names if name in self._model.features]
        features = self._reach.closed(known) if self._reach is not None else frozenset[str]()
        left_out: list[Feature | Group] = [*layers, *map(self._model.features.__getitem__, features)]
        params = {name for layer in left_out for name in layer.params}
        taken = {glob for layer in left_out for entry in layer.files.values() for glob in entry.params}
        return _Absent(
            fact,
            nodes,
            features,
            frozenset(layer.name for layer in left_out),
            frozenset(params),
            tuple(_family(name) for name in params if "${" in name),
            tuple(map(Glob, taken)),
        )

    def _files(self) -> Iterator[tuple[str, Fact]]:
        """Yield the files about nodes that cannot be understood."""
        for code, found in self._codes.items():
            for finding in found if code.startswith("GC1") else ():
                if finding.is_error:
                    yield from (
                        (place.file, finding.fact)
                        for place in finding.origins
                        if place.file.startswith(_OF_NODES)
                    )

    def _of_missing(self, finding: Finding) -> Iterator[Fact]:
        yield from (absent.fact for absent in self._named if finding.subjects[0] in absent.features)
        yield from (self._on_circle[place] for place in finding.origins if place in self._on_circle)

    def _of_unused(self, finding: Finding) -> Iterator[Fact]:
        name = finding.subjects[0]
        for absent in (*self._named, *self._missing):
            if name in absent.layers:
                yield absent.fact

    def _of_value(self, finding: Finding) -> Iterator[Fact]:
        for absent in (*self._missing, *self._named):
            if absent.concerns(finding) and absent.binds(finding.subjects[0]):
                yield absent.fact

    def _of_untaken(self, finding: Finding) -> Iterator[Fact]:
        for absent in (*self._missing, *self._named):
            if absent.concerns(finding) and all(map(absent.takes, finding.subjects)):
                yield absent.fact

    def _of_gone(self, finding: Finding) -> Iterator[Fact]:
        yield from (self._unread[place.file] for place in finding.origins if place.file in self._unread)

    def _of_circle(self, finding: Finding) -> Iterator[Fact]:
        """Yield the cycle of includes that a cycle of dependencies contains."""
        for other in self._codes.get("GC202", ()):
            if {*other.subjects} <= {*finding.subjects}:
                yield other.fact

    def _of_conflict(self, finding: Finding) -> Iterator[Fact]:
        """Yield the cycle with one of the conflicting features: each in it needs all that the others need."""
        for circle in self._circles:
            if not {*circle.subjects}.isdisjoint(finding.subjects):
                yield circle.fact


def _family(name: str) -> Glob:
    """Return the names that a name with marks can become: `SLOT_${as}` is any slot's."""
    head, *rest = name.split("${")
    return Glob("*".join([head, *(part.partition("}")[2] for part in rest)]))
