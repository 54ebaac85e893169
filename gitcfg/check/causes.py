"""Which findings follow from which: whoever mends the cause is rid of them all.

A name that is misspelt leaves a feature or a group out, and so whatever that would have brought; a feature
that is missing, too; a file that cannot be read leaves its nodes out; and what is wrong with a circle or a
pair of features is wrong on nodes as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from gitcfg.check.structure import inclusion
from gitcfg.model import Feature, Finding, Group, Model, Origin
from gitcfg.model.graph import reach
from gitcfg.model.names import Glob, meant

Fact = tuple[str, ...]
_MOST = 100
"""So many things that are left out are looked at: more are not told apart by anybody."""
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
    """What is left out, on some nodes or anywhere, by what is wrong."""

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
        """Does a file that is left out take a parameter?"""
        return any(glob.matches(param) for glob in self.files)


class _Causes:
    """The causes among some findings."""

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
        """The fact from which a finding follows; empty: none."""
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
        """Features and groups that were meant by names that do not exist."""
        hints = {finding.hint: finding.fact for finding in self._codes.get("GC201", ())[:_MOST]}
        for name, feature in self._model.features.items() if hints else ():
            if meant(name) in hints:
                yield self._absent(hints[meant(name)], None, (feature.name,))
        for name, group in self._model.groups.items() if hints else ():
            if meant(name) in hints:
                yield self._absent(hints[meant(name)], None, [use.feature for use in group.features], group)

    def _not_there(self) -> Iterator[_Absent]:
        """Features that others depend on."""
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
        """Files about nodes that cannot be understood."""
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
        """A circle of what is included is one of what is needed, too."""
        for other in self._codes.get("GC202", ()):
            if {*other.subjects} <= {*finding.subjects}:
                yield other.fact

    def _of_conflict(self, finding: Finding) -> Iterator[Fact]:
        """In a circle each needs whatever the others need."""
        for circle in self._circles:
            if not {*circle.subjects}.isdisjoint(finding.subjects):
                yield circle.fact


def _family(name: str) -> Glob:
    """The names that a name stands for: `SLOT_${as}` is any slot's."""
    head, *rest = name.split("${")
    return Glob("*".join([head, *(part.partition("}")[2] for part in rest)]))
