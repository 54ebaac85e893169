"""What looks at the classes of a fleet, one after another, and may speak only when it has seen all."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Protocol

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.surface import Surface
from gitcfg.model import Finding


class Watch(Protocol):
    """Sees every class with its surface, then ends."""

    def see(self, kind: NodeClass, surface: Surface) -> Iterable[Finding]:
        """What is wrong with one class."""
        ...

    def end(self) -> Iterable[Finding]:
        """What could not be said before."""
        ...


class Tally:
    """Findings that many classes share: each is made once, and its nodes are collected."""

    def __init__(self) -> None:
        self._told: dict[Hashable, tuple[object, tuple[Finding, ...], list[str]]] = {}

    def add(
        self, name: Hashable, about: object, nodes: list[str], tell: Callable[[], Iterable[Finding]]
    ) -> None:
        """Tell of some nodes what is wrong with a thing, known by its name and being the same object."""
        key = (name, id(about))
        if key not in self._told:
            self._told[key] = (about, tuple(tell()), [])
        self._told[key][2].extend(nodes)

    def findings(self) -> Iterator[Finding]:
        """All of them, each with its nodes."""
        for _, found, nodes in self._told.values():
            for finding in found:
                yield msgspec.structs.replace(finding, nodes=tuple(nodes))
