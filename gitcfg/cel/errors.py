"""What can be wrong with an expression, with the place in its text."""


class CelProblem(Exception):
    """One sentence, where in the expression (from 1, in characters), and what to do about it."""

    def __init__(self, message: str, line: int = 1, column: int = 1, hint: str = "") -> None:
        super().__init__(message, line, column, hint)
        self.message, self.line, self.column, self.hint = message, line, column, hint

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class CelStopped(CelProblem):
    """An evaluation came to no end: nothing is known of anything that was asked about."""


def sentence(message: str) -> str:
    """Return a message in one line of bearable length, of characters that can be written."""
    line = " ".join(message.encode(errors="replace").decode().split())
    return line if len(line) <= 300 else line[:300] + "..."
