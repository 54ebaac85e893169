"""The terminal of `gitcfg configure`: printed lines, and typed lines."""

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
    """The input has ended (Ctrl-D), so there are no more answers."""


class Talk:
    """A dialog at a terminal: `read` returns a typed line, or "" at the end of input."""

    def __init__(self, console: "Console", read: Callable[[], bytes]) -> None:
        self.console = console
        self._read = read

    def tell(self, text: "str | Text" = "", style: str = "") -> None:
        """Print one or more lines."""
        self.console.print(text, style=style)

    def warn(self, error: GitcfgError) -> None:
        """Print why something is impossible, and what to do."""
        self.tell(error.message, "red")
        for hint in filter(None, error.hints):
            self.tell(f"hint: {hint}", "cyan")

    def ask(self, question: str) -> str:
        """Read the line of an answer. Raise GivenUp if there is none."""
        self.console.print(question, style="bold", end=" ")
        self.console.file.flush()
        line = self._read()
        progress.clear()
        if not line:
            self.tell()
            raise GivenUp
        return line.decode("utf-8", "replace").strip()

    def list(self, names: Sequence[str], indent: str = "  ") -> None:
        """Print names, with as many in a line as a narrow terminal has space for."""
        line = indent
        for number, name in enumerate(map(safe, names)):
            word = name + ("," if number < len(names) - 1 else "")
            if line != indent and len(line) + len(word) > _WIDTH:
                self.tell(line.rstrip())
                line = indent
            line += f"{word} "
        self.tell(line.rstrip())

    def lines(self, lines: "Iterable[Text]") -> None:
        """Print several lines."""
        for line in lines:
            self.tell(line)


def open_talk(session: "Session") -> Talk:
    """Return the dialog at this process's terminal."""
    return Talk(session.console(stderr=True), sys.stdin.buffer.readline)


def check_terminal() -> None:
    """Raise GitcfgError if there is no terminal to ask on."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        hint = "`gitcfg modify` does the same without asking; its --from reads many edits at once."
        raise GitcfgError("`gitcfg configure` needs a terminal.", hint)
