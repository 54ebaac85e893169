"""Where values were written, and the keys and items in them."""

import msgspec


class Mark(msgspec.Struct):
    """Where a value was written, and where the keys or items in it were.

    `text` is the source of a plain scalar that is not text (`017`, `TRUE`).
    """

    line: int
    column: int
    text: str | None = None
    keys: dict[str, tuple[int, int]] = {}
    values: dict[str, "Mark"] = {}
    items: list["Mark"] = []

    def below(self, step: str | int) -> "Mark | None":
        """The mark of the value under a key or at an index, if it is there."""
        if isinstance(step, str):
            return self.values.get(step)
        return self.items[step] if step < len(self.items) else None
