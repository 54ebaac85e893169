"""What names ask for: which others must be there, and which must not, for many sets of names at once."""

from collections.abc import Callable, Container
from typing import Protocol

from gitcfg.compile.bits import Bits
from gitcfg.model import Origin, Ref


class Asking(Protocol):
    """A definition that asks for others."""

    @property
    def depends(self) -> tuple[Ref, ...]: ...

    @property
    def conflicts(self) -> tuple[Ref, ...]: ...


class Demands:
    """The demands of all names that may come up; sets of names are bits.

    `define` says what defines a name, `known` are the names that exist: what does not is another finding.
    """

    def __init__(self, bits: Bits, define: Callable[[str], Asking | None], known: Container[str]) -> None:
        self._bits = bits
        self._needers: dict[str, list[tuple[str, Origin]]] = {}
        self._pairs: dict[tuple[str, ...], list[tuple[str, Origin]]] = {}
        for name in sorted(bits.names):
            self._add(name, define(name), known)
        self._wanted = [
            (bits.mask(needer for needer, _ in needers), bits.among([name]), name)
            for name, needers in self._needers.items()
        ]
        self._apart = [(bits.mask(pair), pair) for pair in self._pairs]

    def _add(self, name: str, asking: Asking | None, known: Container[str]) -> None:
        for ref in asking.depends if asking is not None else ():
            if ref.name in known:
                self._needers.setdefault(ref.name, []).append((name, ref.origin))
        for ref in asking.conflicts if asking is not None else ():
            if ref.name in known and ref.name != name and ref.name in self._bits.places:
                pair = (min(name, ref.name), max(name, ref.name))
                self._pairs.setdefault(pair, []).append((name, ref.origin))

    def missing(self, have: int) -> list[tuple[str, list[tuple[str, Origin]]]]:
        """What is wanted and not there, each with who wants it and where that is said."""
        return [
            (name, self._there(have, self._needers[name]))
            for needers, itself, name in self._wanted
            if have & needers and not have & itself
        ]

    def _there(self, have: int, asking: list[tuple[str, Origin]]) -> list[tuple[str, Origin]]:
        return [(name, origin) for name, origin in asking if have & self._bits.bit(name)]

    def clashing(self, have: int) -> list[tuple[tuple[str, ...], list[tuple[str, Origin]]]]:
        """Pairs that must not be together and are, each with who says so and where."""
        return [(pair, self._pairs[pair]) for mask, pair in self._apart if have & mask == mask]
