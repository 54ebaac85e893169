"""Sets of names as bits of one integer: what is asked of every class is asked of all names at once."""

from collections.abc import Iterable, Iterator


class Bits:
    """Names in order of their bits, which are given out as names come up."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = []
        self.places: dict[str, int] = {}
        self.mask(names)

    def bit(self, name: str) -> int:
        """A name alone."""
        place = self.places.get(name)
        if place is None:
            place = self.places[name] = len(self.names)
            self.names.append(name)
        return 1 << place

    def mask(self, names: Iterable[str]) -> int:
        """Names together."""
        result = 0
        for name in names:
            result |= self.bit(name)
        return result

    def among(self, names: Iterable[str]) -> int:
        """Those of the names that have come up."""
        return self.mask(name for name in names if name in self.places)

    def of(self, mask: int) -> Iterator[str]:
        """The names of a mask."""
        while mask:
            lowest = mask & -mask
            yield self.names[lowest.bit_length() - 1]
            mask ^= lowest
