"""What is wrong with a domain as it is written, or with a value that should be in one."""


class DomainProblem(ValueError):
    """One sentence, where, and what to do about it.

    `index` is the item's, from 0; None: it is about all of them, or about a value. `column` is the
    character within the item's text, from 1.
    """

    def __init__(self, message: str, column: int = 1, hint: str = "", index: int | None = None) -> None:
        super().__init__(message, column, hint, index)
        self.message, self.column, self.hint, self.index = message, column, hint, index

    def __str__(self) -> str:
        place = "" if self.index is None else f"item {self.index + 1}, column {self.column}: "
        return f"{place}{self.message}"

    def moved(self, columns: int, index: int | None = None) -> "DomainProblem":
        """The same, for a text that begins so many columns further right, of this item."""
        return DomainProblem(self.message, self.column + columns, self.hint, index)
