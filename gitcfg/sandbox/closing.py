"""What is closed at the end of a `with`."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Something that is closed when it is left."""

    @abstractmethod
    def close(self) -> None:
        """End what was begun."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
