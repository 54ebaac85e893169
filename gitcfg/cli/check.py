"""`gitcfg check`: everything that is wrong on every node, at one commit or at every commit of a range."""

import sys
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec.structs import replace

from gitcfg.cli.declaration import AtOption, FoldedOption, command
from gitcfg.cli.records import Items, lines, write_record
from gitcfg.cli.session import Output, Session, fleet_of, write
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, install_hint, safe

if TYPE_CHECKING:
    from gitcfg.check.results import Checked
    from gitcfg.git.history import History
    from gitcfg.git.repository import Repository
    from gitcfg.library import Fleet, Source
    from gitcfg.model import Finding

EPILOG = """Examples:

  gitcfg check --staged                              what would be committed

  gitcfg check --each main..topic                    every commit of a branch

  gitcfg check --at main~3 -o sarif > main.sarif"""


class Form(StrEnum):
    """What to write."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"


FORGES = (Form.GITHUB, Form.GITLAB, Form.SARIF)
_FORM = typer.Option("-o", "--output", help="What to write; the last three are for forges.")
_EACH = typer.Option(help="Every commit of a range, parents first.", metavar="REV..REV")
_AS = typer.Option(
    "--as",
    help="With --each: who would push it, for who may change what.",
    metavar="WHO",
)
_ALL = typer.Option("--all", help="Every finding in full, not only the first of each code and cause.")
_PARSERS = typer.Option(
    "--parsers/--no-parsers", help="Let targets' own parsers read what is rendered (GC307)."
)
_IGNORED = typer.Option(
    "--ignored", help="List the warnings, too, that `ignore` in gitcfg.yaml leaves out, and why."
)


@command(EPILOG, Items("gitcfg.findings/1", "findings", "finding"))
def check(
    context: typer.Context,
    at: AtOption = None,
    staged: Annotated[bool, typer.Option("--staged", help="The index instead of the work tree.")] = False,
    each: Annotated[str | None, _EACH] = None,
    every: Annotated[bool, _ALL] = False,
    form: Annotated[Form, _FORM] = Form.TEXT,
    folded: FoldedOption = False,
    parsers: Annotated[bool, _PARSERS] = True,
    who: Annotated[str | None, _AS] = None,
    ignored: Annotated[bool, _IGNORED] = False,
) -> int:
    """Check every definition and every node. Exits 1 if there are errors."""
    session: Session = context.obj
    _refuse(at, staged, each, form)
    if ignored and (each is not None or form in FORGES):
        hint = "Say which commit: --at REV; and -o text, json, jsonl or yaml."
        raise GitcfgError("--ignored lists what one commit ignores, and no forge reads it.", hint)
    if who is not None and each is None:
        raise GitcfgError("--as goes with --each.", "Say which commits: --each main..HEAD.")
    if each is not None:
        return _check_each(session, each, Output(form), folded, parsers, who, every)
    source = session.open()
    with fleet_of(source, at, staged) as fleet:
        checked = check_with_parsers(session, fleet) if parsers else fleet.checked
        if form in FORGES:
            code = _report(session, checked, form, source.repository.prefix)
        else:
            code = write_checked(session, fleet, checked, Output(form), folded, every, ignored)

        for text in _find_hold_warnings(source, fleet):
            session.console(stderr=True).print(text, style="yellow")
    return code


def _refuse(at: str | None, staged: bool, each: str | None, form: Form) -> None:
    """Raise GitcfgError if options do not go together."""
    choices = {"--at": at is not None, "--staged": staged, "--each": each is not None}
    given = [name for name, is_given in choices.items() if is_given]
    if len(given) > 1:
        raise GitcfgError(f"{' and '.join(given)} do not go together.", "Say one of them.")
    if each is not None and form in FORGES:
        hint = f"Say -o text, json, jsonl or yaml; `gitcfg check --at REV -o {form}` reports one commit."
        raise GitcfgError(f"-o {form} shows lines of one commit, and --each has many.", hint)


def check_with_parsers(session: Session, fleet: "Fleet") -> "Checked":
    """Check with targets' own parsers, and note which are missing: before the work, if that is known."""
    notice = ParserNotice(session)
    notice.give(fleet)
    checked = fleet.all_checked
    notice.give(fleet)
    return checked


def write_checked(
    session: Session,
    fleet: "Fleet",
    checked: "Checked",
    output: Output,
    folded: bool,
    every: bool,
    ignored: bool,
) -> int:
    """Write what a check found, with `ignored` what is ignored too, and return the exit code.

    `every`: text leaves nothing out.
    """
    if output is not Output.TEXT:
        from gitcfg.explain.trail import findings_record, ignored_records

        record = findings_record(fleet.commit, checked.findings, folded)
        more = ignored_records(checked.ignored, folded) if ignored else []
        if output is Output.JSONL:
            record["findings"] += more
        elif ignored:
            record["ignored"] = more
        write_record(record, output)
    else:
        from gitcfg.cli.findings import HERE, print_findings, print_ignored, print_summary

        ways = replace(HERE, whole=every)
        print_findings(session.console(), fleet.tree, checked.findings, checked.every, ways)
        if ignored:
            print_ignored(session.console(), fleet.tree, checked, ways)
            checked = replace(checked, ignored=())  # the last line need not say where they are
        print_summary(session.console(stderr=True), checked)
    return int(checked.grave)


def _report(session: Session, checked: "Checked", form: Form, prefix: str) -> int:
    """Write what a check found for a forge, and a summary for its log; return the exit code."""
    from gitcfg.cli.findings import print_summary
    from gitcfg.cli.forges import write_report

    write_report(form, checked.findings, prefix)
    print_summary(session.console(stderr=True), checked)
    return int(checked.grave)


def _check_each(
    session: Session,
    words: str,
    output: Output,
    folded: bool,
    parsers: bool,
    who: str | None = None,
    every: bool = False,
) -> int:
    """Print what is wrong in each commit of a range, parents first; return 1 if there are errors in any.

    `who` would push all of it. `every`: text shows every finding in full.
    """
    from gitcfg.gate.permits.judge import check_range
    from gitcfg.git.history import History
    from gitcfg.git.refs import Refs
    from gitcfg.load.repository import is_repository

    source = session.open()
    history = History(source.repository)
    ends = _range_ends(source.repository, words)
    commits = Refs(source.repository).between([ends[0]], ends[1])
    refused = check_range(source.repository, ends, commits, who, datetime.now().astimezone())
    notice = ParserNotice(session)
    grave = skipped = 0
    for commit in commits:
        if not is_repository(source.repository.at(commit)):
            skipped += 1
            _print_skipped(session, history, commit)
            grave += _print_refused(session, source.repository, commit, refused.get(commit, ()))
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
    _print_total(session, len(commits) - skipped, grave)
    return int(grave > 0)


def _range_ends(repository: "Repository", words: str) -> tuple[str, str]:
    """Return the commits A and B of `A..B`. Raise GitcfgError if it is no range."""
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
    from gitcfg.check.findings import folded

    return replace(checked, findings=folded((*checked.findings, *more)))


def _show(session: Session, history: "History", fleet: "Fleet", checked: "Checked", every: bool) -> None:
    """Print a commit's findings below a headline."""
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
    if output is Output.YAML:
        from gitcfg.load.yaml import dump

        yield "---\n"
        yield dump(msgspec.to_builtins(record))
        return
    for part in lines(record) if output is Output.JSONL else (record,):
        yield msgspec.json.encode(part).decode() + "\n"


def _headline(history: "History", id: str) -> str:
    commit = history.about(id)
    return f"{id[:ABBREVIATED]} {commit.date[:10]} {safe(commit.author)}: {safe(commit.subject)}"


def _print_skipped(session: Session, history: "History", id: str) -> None:
    from gitcfg.load.repository import FILE

    session.console(stderr=True).print(f"note: There is no {FILE} in {_headline(history, id)}")


def _print_refused(
    session: Session, repository: "Repository", id: str, refused: "tuple[Finding, ...]"
) -> bool:
    """Print who may not take away all that there was; return whether there is something."""
    if refused:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), repository.at(id), refused)
    return bool(refused)


def _print_total(session: Session, number: int, grave: int) -> None:
    """Print a summary in one line."""
    console = session.console(stderr=True)
    if grave:
        have = "has" if grave == 1 else "have"
        console.print(f"{grave} of {counted(number, 'commit')} {have} errors.", style="red")
    else:
        console.print(f"No errors in {counted(number, 'commit')}.", style="green")


class ParserNotice:
    """A note, given once and as early as possible, that HTCondor's own parser is not installed."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._given = False

    def give(self, fleet: "Fleet") -> None:
        """Give it if a fleet has HTCondor files: call this before the fleet is checked, and after."""
        if self._given or not fleet.lacks_parser():
            return
        self._given = True
        console = self._session.console(stderr=True)
        console.print(
            "note: HTCondor's own parser is not installed, so HTCondor files are not judged by it (GC307).",
            style="yellow",
        )
        console.print(f"hint: {install_hint('htcondor')}", style="cyan")


def _find_hold_warnings(source: "Source", fleet: "Fleet") -> Iterator[str]:
    """Yield a warning for each hold whose commit no server will have.

    In a shallow clone nothing is known of commits that are not here.
    """
    from gitcfg.gate.holds import describe_stray_holds, has_holds
    from gitcfg.git.history import History

    repository = source.repository
    if not has_holds(fleet) or not repository.knows("HEAD"):
        return
    history = History(repository)
    if not history.shallow:
        head = fleet.commit or str(repository.commit("HEAD").id)
        for text in describe_stray_holds(
            fleet, lambda commit: _describe_fault(repository, history, head, commit)
        ):
            yield f"warning: {text}"


def _describe_fault(repository: "Repository", history: "History", head: str, commit: str) -> str:
    """Say what is wrong with a commit at which nodes are held; "" if nothing is."""
    if not repository.knows(commit):
        return "and there is no such commit here"
    if history.includes(head, str(repository.commit(commit).id)):
        return ""
    return "which is not in the past of what is checked: servers have what a protected branch has"
