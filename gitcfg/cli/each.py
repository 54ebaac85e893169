"""Every commit of a range, checked one after the other."""

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from gitcfg.cli.session import Output, Session, write
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from gitcfg.check.results import Checked
    from gitcfg.git.history import History
    from gitcfg.git.repository import Repository
    from gitcfg.library import Fleet
    from gitcfg.model import Finding


def check_each(
    session: Session,
    words: str,
    output: Output,
    folded: bool,
    parsers: bool,
    who: str | None = None,
    every: bool = False,
) -> int:
    """Tell what is wrong in each commit of a range, parents first; 1 if there are errors in any.

    `who` would push all of it. `every`: text shows every finding in full.
    """
    from gitcfg.cli.unjudged import ParserNotice
    from gitcfg.gate.permits.range import charged
    from gitcfg.git.history import History
    from gitcfg.load.repository import is_repository

    source = session.open()
    history = History(source.repository)
    ends = range_ends(source.repository, words)
    commits = commits_between(source.repository, words)
    refused = charged(source.repository, ends, commits, who, datetime.now().astimezone())
    notice = ParserNotice(session)
    grave = skipped = 0
    for commit in commits:
        if not is_repository(source.repository.at(commit)):
            skipped += 1
            _tell_skipped(session, history, commit)
            grave += _tell_refused(session, source.repository, commit, refused.get(commit, ()))
            continue
        with source.at(commit) as fleet:
            if parsers:
                notice.give(fleet)
            checked = _with(fleet.all_checked if parsers else fleet.checked, refused.get(commit, ()))
            if output is Output.TEXT:
                _show(session, history, fleet, checked, every)
            else:
                _write(fleet, checked, output, folded)
            if parsers:
                notice.give(fleet)
        grave += checked.grave
    _sum_up(session, len(commits) - skipped, grave)
    return int(grave > 0)


def commits_between(repository: "Repository", words: str) -> tuple[str, ...]:
    """The commits of `A..B`, as `git rev-list A..B` has them, parents first. GitcfgError: it is no range."""
    from gitcfg.git.refs import Refs

    old, new = range_ends(repository, words)
    return Refs(repository).between([old], new)


def range_ends(repository: "Repository", words: str) -> tuple[str, str]:
    """The commits A and B of `A..B`. GitcfgError: it is no range."""
    if ".." not in words:
        hint = f"Write A..B, as main..{words}; `gitcfg check --at {words}` looks at one commit."
        raise GitcfgError(f"--each takes a range, and {safe(words)} is none.", safe(hint))
    if "..." in words:
        hint = f"Write {words.replace('...', '..', 1)} for the commits of the second that the first lacks."
        raise GitcfgError(f"--each takes A..B, and {safe(words)} has three dots.", safe(hint))
    old, new = (repository.at(end or "HEAD").commit or "" for end in words.split("..", 1))
    return old, new


def _with(checked: "Checked", more: "tuple[Finding, ...]") -> "Checked":
    if not more:
        return checked
    from msgspec.structs import replace

    from gitcfg.check.base import folded

    return replace(checked, findings=folded((*checked.findings, *more)))


def _show(session: Session, history: "History", fleet: "Fleet", checked: "Checked", every: bool) -> None:
    """Print a commit's findings below a headline."""
    from msgspec.structs import replace

    from gitcfg.cli.findings import HERE, print_findings

    console = session.console()
    console.print(_headline(history, fleet.commit or ""), style="bold")
    print_findings(console, fleet.tree, checked.findings, checked.every, replace(HERE, whole=every))


def _write(fleet: "Fleet", checked: "Checked", output: Output, folded: bool) -> None:
    """Write a commit's findings as a record."""
    from gitcfg.explain.trail import findings_record

    write("".join(_texts(findings_record(fleet.commit, checked.findings, folded), output)))
    sys.stdout.flush()  # a long range is read while it is checked


def _texts(record: dict[str, object], output: Output) -> Iterator[str]:
    """A line a commit, or a finding; YAML begins a document for each commit."""
    import msgspec

    if output is Output.YAML:
        from gitcfg.load.yaml import dump

        yield "---\n"
        yield dump(msgspec.to_builtins(record))
        return
    from gitcfg.cli.records import lines

    for part in lines(record) if output is Output.JSONL else (record,):
        yield msgspec.json.encode(part).decode() + "\n"


def _headline(history: "History", id: str) -> str:
    commit = history.about(id)
    return f"{id[:ABBREVIATED]} {commit.date[:10]} {safe(commit.author)}: {safe(commit.subject)}"


def _tell_skipped(session: Session, history: "History", id: str) -> None:
    from gitcfg.load.repository import FILE

    session.console(stderr=True).print(f"note: There is no {FILE} in {_headline(history, id)}")


def _tell_refused(
    session: Session, repository: "Repository", id: str, refused: "tuple[Finding, ...]"
) -> bool:
    """Who may not take away all that there was; is there something to tell?"""
    if refused:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), repository.at(id), refused)
    return bool(refused)


def _sum_up(session: Session, number: int, grave: int) -> None:
    """How it stands, in one line."""
    console = session.console(stderr=True)
    if grave:
        have = "has" if grave == 1 else "have"
        console.print(f"{grave} of {counted(number, 'commit')} {have} errors.", style="red")
    else:
        console.print(f"No errors in {counted(number, 'commit')}.", style="green")
