"""The terminal that `gitcfg configure` asks on: lines shown, and lines typed."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from gitcfg.cli import progress
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from gitcfg.cli.session import Session

_WIDTH = 78


class GivenUp(Exception):
    """Nobody answers any more: the end of the input (Ctrl-D)."""


class Talk:
    """Somebody at a terminal: `read` gives a line of what they type, nothing at its end."""

    def __init__(self, console: "Console", read: Callable[[], bytes]) -> None:
        self.console = console
        self._read = read

    def tell(self, text: "str | Text" = "", style: str = "") -> None:
        """A line, or several."""
        self.console.print(text, style=style)

    def warn(self, error: GitcfgError) -> None:
        """Why something cannot be, and what to do."""
        self.tell(error.message, "red")
        for hint in filter(None, error.hints):
            self.tell(f"hint: {hint}", "cyan")

    def ask(self, question: str) -> str:
        """A line of an answer. GivenUp: there is none."""
        self.console.print(question, style="bold", end=" ")
        self.console.file.flush()
        line = self._read()
        progress.clear()
        if not line:
            self.tell()
            raise GivenUp
        return line.decode("utf-8", "replace").strip()

    def list(self, names: Sequence[str], indent: str = "  ") -> None:
        """Names, as many in a line as a narrow terminal holds."""
        line = indent
        for number, name in enumerate(map(safe, names)):
            word = name + ("," if number < len(names) - 1 else "")
            if line != indent and len(line) + len(word) > _WIDTH:
                self.tell(line.rstrip())
                line = indent
            line += f"{word} "
        self.tell(line.rstrip())

    def lines(self, lines: "Iterable[Text]") -> None:
        """Several lines."""
        for line in lines:
            self.tell(line)


def open_talk(session: "Session") -> Talk:
    """Whoever is at this process's terminal."""
    return Talk(session.console(stderr=True), sys.stdin.buffer.readline)


def check_terminal() -> None:
    """GitcfgError: there is no terminal to ask on."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        hint = "`gitcfg modify` does the same without asking; its --from reads many edits at once."
        raise GitcfgError("`gitcfg configure` needs a terminal.", hint)
