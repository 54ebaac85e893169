"""What checks share: watches, which see each node class once, and findings folded over nodes."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from typing import Protocol

import msgspec

from gitcfg.check.codes import CODES
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import has_marks
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.surface import Surface
from gitcfg.model import Binding, FileEntry, Finding, Model, Op, Origin, Severity


class Watch(Protocol):
    """Sees every class with its surface, then ends."""

    def see(self, node_class: NodeClass, surface: Surface) -> Iterable[Finding]:
        """Return what is wrong with one class."""
        ...

    def end(self) -> Iterable[Finding]:
        """Return what could not be said before."""
        ...


class Tally:
    """Findings that many classes share: each is made once, and its nodes are collected."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[object, tuple[Finding, ...], list[str]]] = {}

    def add(
        self, name: Hashable, about: object, nodes: list[str], tell: Callable[[], Iterable[Finding]]
    ) -> None:
        """Tell of some nodes what is wrong with a thing, known by its name and being the same object."""
        key = (name, id(about))
        if key not in self._entries:
            self._entries[key] = (about, tuple(tell()), [])
        self._entries[key][2].extend(nodes)

    def findings(self) -> Iterator[Finding]:
        """Yield all of them, each with its nodes."""
        for _, found, nodes in self._entries.values():
            for finding in found:
                yield msgspec.structs.replace(finding, nodes=tuple(nodes))


# One finding for one fact: the same thing said of many places and nodes is said once.


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the same code, subjects and words as one, with all their origins and nodes."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.subjects, finding.message), []).append(finding)
    return tuple(sorted(map(_one, groups.values()), key=_order))


def _one(group: list[Finding]) -> Finding:
    # In an order that does not depend on who found what first; the gravest speaks for all.
    group = sorted(group, key=lambda finding: (min(finding.nodes, default=""), finding.origins, finding.hint))
    first = min(group, key=lambda finding: not finding.is_error)
    origins: dict[Origin, None] = {origin: None for finding in group for origin in finding.origins}
    nodes = sorted({node for finding in group for node in finding.nodes})
    return msgspec.structs.replace(first, origins=tuple(origins), nodes=tuple(nodes))


def _order(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.subjects, finding.origins, finding.message, finding.nodes


def of(
    code: str,
    subjects: str | tuple[str, ...],
    message: str,
    origins: Iterable[Origin],
    nodes: Iterable[str] = (),
    hint: str = "",
    grave: Severity | None = None,
    veiled: bool = False,
) -> Finding:
    """Return a finding, with the severity of its code unless another is given."""
    named = (subjects,) if isinstance(subjects, str) else subjects
    return Finding(
        code,
        named,
        message,
        tuple(origins),
        tuple(nodes),
        grave or CODES[code].severity,
        sentence(hint),
        veiled,
    )


def sentence(text: str) -> str:
    """Return a hint as a sentence of its own: libraries' hints begin in lower case."""
    return text[:1].upper() + text[1:]


# Where things stand in a model: every binding, every file entry.


def bindings(fleet: Fleet) -> Iterator[tuple[str, Binding]]:
    """Yield every binding as nodes may get it: what names an instance's part is read from instances."""
    yield from fleet.bindings.named
    for feature in fleet.layers.instances:
        yield from feature.params.items()


def composed(fleet: Fleet, *ops: Op) -> Iterator[tuple[str, Binding]]:
    """The bindings with some operations other than plain values, without those that instances still mark."""
    for pair in fleet.bindings.of(*ops):
        if not has_marks([pair[0], pair[1].given]):
            yield pair
    for feature in fleet.layers.instances:
        yield from ((name, bound) for name, bound in feature.params.items() if bound.op in ops)


def bound_names(fleet: Fleet) -> Set[str]:
    """Return the parameters that nodes may bind."""
    made = (feature.params for feature in fleet.layers.instances)
    return frozenset([name for name, _ in fleet.bindings.named]).union(*made)


def constrained(model: Model) -> Iterator[tuple[str, Origin]]:
    """Yield every parameter that a rule gives a domain; what one gives the instances of a feature is none."""
    for rule in model.rules.values():
        if rule.over is None:
            yield from ((name, domain.origin) for name, domain in rule.domains.items())


def files(model: Model) -> Iterator[FileEntry]:
    """Yield every file entry that puts a file somewhere."""
    for layer in model.layers():
        yield from (entry for entry in layer.files.values() if not entry.removed)
