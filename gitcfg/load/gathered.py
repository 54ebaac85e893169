"""What stands in many files of a folder, several in each: read all at once, when the first is asked for."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeVar

from gitcfg.load.reading import Reading
from gitcfg.model import Finding

T = TypeVar("T")


class Gathered(Mapping[str, T]):
    """Things by name, and what is wrong with them."""

    @abstractmethod
    def _gather(self) -> tuple[dict[str, T], Reading]:
        """Everything by name, and the reading that says what is wrong with it."""
        ...

    @cached_property
    def _gathered(self) -> tuple[dict[str, T], Reading]:
        return self._gather()

    def __getitem__(self, name: str) -> T:
        return self._gathered[0][name]

    def __contains__(self, name: object) -> bool:
        return name in self._gathered[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._gathered[0])

    def __len__(self) -> int:
        return len(self._gathered[0])

    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with names and with what they stand for."""
        return tuple(self._gathered[1].findings)

    def so_far(self) -> tuple[Finding, ...]:
        """The same, if anything has been asked for."""
        return self.findings() if "_gathered" in self.__dict__ else ()
