"""Logs for eyes: the commits, and what each changed. Without colours nothing slow is imported."""

from collections.abc import Iterator

from gitcfg.cli.effects import Line, effect_lines
from gitcfg.cli.session import Session
from gitcfg.history.log import Entry, Log, Question
from gitcfg.model.text import ABBREVIATED, safe


def print_log(session: Session, log: Log) -> None:
    """The commits, newest first, each with a line for every way in which it changed the result."""
    if not log.entries:
        session.console(stderr=True).print("No commit has changed that.")
    lines = (line for entry in log.entries for line in _lines(log.question, entry))
    if not session.has_color(session.pager.stdout):
        session.write("".join(f"{''.join(text for text, _ in line)}\n" for line in lines))
        return
    from rich.text import Text

    console = session.console()
    for line in lines:
        console.print(Text.assemble(*line))


def _lines(question: Question, entry: Entry) -> Iterator[Line]:
    commit = entry.commit
    head = [(commit.commit[:ABBREVIATED], "yellow"), (f" {commit.date[:10]} ", "dim")]
    if commit.shallow:
        yield [*head[:1], (" or earlier: this clone's history ends here", "bold")]
        yield [("    `git fetch --unshallow` gets the rest: what it was before, and who changed it", "")]
        return
    yield [*head, (safe(commit.author), "blue"), (f": {safe(commit.subject)}", "bold")]
    for line in effect_lines(question, entry.effect):
        yield [("    ", ""), *line]
