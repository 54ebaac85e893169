"""Somebody who configures something: in a real terminal, or by lines that are fed to the loop."""

import io
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path

from rich.console import Console

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.prompt import converse
from gitcfg.cli.configure.terminal import Talk
from gitcfg.cli.console import Color, Pager
from gitcfg.cli.session import Session
from gitcfg.edit.configure import find_target
from tests.cli.terminals import Terminal, plain

MAIN = r"(?:group|node|nodeset)/[^>\n]*> "


class Dialogue(Terminal):
    """`gitcfg configure WHAT` in a terminal."""

    def __init__(self, folder: Path, environment: Mapping[str, str], what: str) -> None:
        command = [sys.executable, "-m", "gitcfg", "configure", what]
        super().__init__(command, environment, folder)
        self._since = 0

    def __enter__(self) -> "Dialogue":
        return self

    def asked(self, question: str = MAIN) -> str:
        """Wait until it asks, and what was shown since the last answer. The question is a pattern."""
        return plain(self.until(f"{question}$", self._since))

    def answer(self, text: str, question: str = MAIN) -> str:
        """Answer a question: what was shown before it."""
        shown = self.asked(question)
        self._since = len(self.seen)
        self.type(f"{text}\n")
        self.until("\n", self._since)
        return shown

    def answers(self, *texts: str) -> None:
        """Say one thing after another to the main prompt."""
        for text in texts:
            self.answer(text)


def fed(
    folder: Path, what: str, lines: Iterable[str], width: int = 80, creates: bool = False
) -> tuple[int, str]:
    """Exit code and what was shown, where all questions between the steps get their harmless answer.

    `creates`: what there is not is created.
    """
    left = iter(lines)

    def answer(shown: str) -> str | None:
        before, _, question = shown.rpartition("\n")
        if re.search(f"{MAIN}$", question):
            return next(left, None)
        if "Write it anyway" in question:
            return "y"
        choices = before.rpartition("\n")[2]
        if question == "> " and "n: discard" in choices:
            return "n"
        if creates and question == "> " and "c: create" in choices:
            return "c"
        if question == "> " and "w: write" in choices:
            return "w"
        return "n" if "[" in question else ""

    return _talk(folder, what, answer, width)


def converse_by_lines(folder: Path, what: str, lines: Iterable[str], width: int = 80) -> tuple[int, str]:
    """Exit code and the screen, with what was typed: one line to each question, in turn."""
    left = iter(lines)
    return _talk(folder, what, lambda shown: next(left, None), width, echo=True)


def _talk(
    folder: Path, what: str, answer: Callable[[str], str | None], width: int, echo: bool = False
) -> tuple[int, str]:
    shown = io.StringIO()
    console = Console(
        file=shown, width=width, soft_wrap=True, highlight=False, markup=False, emoji=False, no_color=True
    )

    def read() -> bytes:
        line = answer(shown.getvalue())
        if echo and line is not None:
            shown.write(f"{line}\n")
        return b"" if line is None else f"{line}\n".encode()

    session = Session(str(folder), Color.NEVER, date(2026, 1, 1), Pager(""))
    source = session.open()
    with source.worktree() as fleet:
        found = find_target(fleet.model, what)
        return converse(Conversation(session, source, Talk(console, read), found, fleet)), shown.getvalue()
