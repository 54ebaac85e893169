"""Somebody who configures something: in a real terminal, or by lines that are fed to the loop."""

import io
import re
import sys
from collections.abc import Iterable, Mapping
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


def fed(folder: Path, what: str, lines: Iterable[str], width: int = 80) -> tuple[int, str]:
    """Exit code and what was shown, where all questions between the steps get their harmless answer."""
    shown, left = io.StringIO(), iter(lines)
    console = Console(
        file=shown, width=width, soft_wrap=True, highlight=False, markup=False, emoji=False, no_color=True
    )

    def read() -> bytes:
        question = shown.getvalue().rpartition("\n")[2]
        if re.fullmatch(MAIN, question):
            line = next(left, None)
            return b"" if line is None else f"{line}\n".encode()
        if "Write it anyway" in question:
            return b"y\n"
        if question == "> " and "w: write" in shown.getvalue().rsplit("\n", 2)[-2]:
            return b"w\n"
        return b"n\n" if "[" in question else b"\n"

    session = Session(str(folder), Color.NEVER, None, Pager(""))
    source = session.open()
    with source.worktree() as fleet:
        found = find_target(fleet.model, what)
        return converse(Conversation(session, source, Talk(console, read), found, fleet)), shown.getvalue()
