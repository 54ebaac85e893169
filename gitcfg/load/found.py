"""What is wrong with the files of a tree, and what could not be understood: complete when it is asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Protocol, overload

from gitcfg.model import Finding


class Part(Protocol):
    """What of a tree is read by itself, such as the definitions of a kind."""

    def findings(self) -> Iterable[Finding]:
        """Everything that is wrong with it: all of it is read."""
        ...

    def so_far(self) -> Iterable[Finding]:
        """What is known to be wrong without reading more."""
        ...


class Known:
    """A part that has been read: settings, names."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = tuple(findings)

    def findings(self) -> Iterable[Finding]:
        return self._findings

    def so_far(self) -> Iterable[Finding]:
        return self._findings


class Findings(Sequence[Finding]):
    """The findings of all parts, in their order. To ask for one, or how many, reads everything."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self._all: tuple[Finding, ...] | None = None

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._whole()[index]

    def __len__(self) -> int:
        return len(self._whole())

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._whole())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._whole() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def so_far(self) -> tuple[Finding, ...]:
        """Those of what has been read until now."""
        return tuple(finding for part in self._parts for finding in part.so_far())

    def _whole(self) -> tuple[Finding, ...]:
        if self._all is None:
            self._all = tuple(finding for part in self._parts for finding in part.findings())
        return self._all


class Definitions(Protocol):
    """Definitions of which some may not be understood."""

    def misread(self, name: str) -> bool: ...

    def all_misread(self) -> Iterable[str]: ...


class Misread(Set[str]):
    """The names that could not be understood. Whether one is among them reads no more than that one."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._definitions.misread(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions.all_misread())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> Set[str]:  # type: ignore[override]
        return frozenset(names)


class Unread(Mapping[str, Set[str]]):
    """What could not be understood by kind; only kinds of which there is some are in it."""

    def __init__(self, kinds: Mapping[str, Definitions]) -> None:
        self._kinds = {kind: Misread(definitions) for kind, definitions in kinds.items()}

    def __getitem__(self, kind: str) -> Set[str]:
        return self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return (kind for kind, names in self._kinds.items() if names)

    def __len__(self) -> int:
        return sum(1 for _ in self)
