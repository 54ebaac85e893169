"""`gitcfg check`: all findings on every node, at one commit or at every commit of a range."""

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
    """The form of the output."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"


FORGES = (Form.GITHUB, Form.GITLAB, Form.SARIF)
_FORM = typer.Option("-o", "--output", help="Output format; the last three are for forges.")
_EACH = typer.Option(help="Check every commit of a range, parents first.", metavar="REV..REV")
_AS = typer.Option(
    "--as", help="With --each: apply permission rules as if this person pushed.", metavar="WHO"
)
_ALL = typer.Option("--all", help="Show every finding in full, not only the first of each code and cause.")
_PARSERS = typer.Option(
    "--parsers/--no-parsers", help="Also check rendered files with the applications' own parsers (GC307)."
)
_IGNORED = typer.Option(
    "--ignored", help="Also list the warnings that `ignore` in gitcfg.yaml hides, and the reasons."
)


@command(EPILOG, Items("gitcfg.findings/1", "findings", "finding"))
def check(
    context: typer.Context,
    at: AtOption = None,
    staged: Annotated[bool, typer.Option("--staged", help="Check the index, not the work tree.")] = False,
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
        hint = "Use --at REV, and -o text, json, jsonl or yaml."
        raise GitcfgError("--ignored lists warnings of one commit, and not in formats for forges.", hint)
    if who is not None and each is None:
        raise GitcfgError("--as needs --each.", "Choose the commits: --each main..HEAD.")
    if each is not None:
        return _check_each(session, each, Output(form), folded, parsers, who, every)
    source = session.open()
    with fleet_of(source, at, staged) as fleet:
        checked = check_with_parsers(session, fleet) if parsers else fleet.checked
        if form in FORGES:
            from gitcfg.cli.findings import print_summary
            from gitcfg.cli.forges import write_report

            write_report(form, checked.findings, source.repository.prefix)
            print_summary(session.console(stderr=True), checked)  # for the log
        else:
            write_checked(session, fleet, checked, Output(form), folded, every, ignored)
        for text in _find_hold_warnings(source, fleet):
            session.console(stderr=True).print(text, style="yellow")
    return int(checked.grave)


def _refuse(at: str | None, staged: bool, each: str | None, form: Form) -> None:
    """Raise GitcfgError if options exclude each other."""
    choices = {"--at": at is not None, "--staged": staged, "--each": each is not None}
    given = [name for name, is_given in choices.items() if is_given]
    if len(given) > 1:
        raise GitcfgError(f"{' and '.join(given)} cannot be used together.", "Use one of them.")
    if each is not None and form in FORGES:
        hint = f"Use -o text, json, jsonl or yaml; `gitcfg check --at REV -o {form}` reports one commit."
        raise GitcfgError(f"-o {form} shows lines of one commit, but --each has several.", hint)


def check_with_parsers(session: Session, fleet: "Fleet") -> "Checked":
    """Check with targets' own parsers, and note missing ones, before the work if they are already known."""
    noted = note_missing_parser(session, fleet)
    checked = fleet.all_checked
    if not noted:
        note_missing_parser(session, fleet)
    return checked


def write_checked(
    session: Session,
    fleet: "Fleet",
    checked: "Checked",
    output: Output,
    folded: bool,
    every: bool,
    ignored: bool,
) -> None:
    """Write what a check found; `ignored` adds the ignored findings. `every`: the text is complete."""
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

        detail = replace(HERE, whole=every)
        print_findings(session.console(), fleet.tree, checked.findings, checked.every, detail)
        if ignored:
            print_ignored(session.console(), fleet.tree, checked, detail)
            checked = replace(checked, ignored=())  # the last line need not say how to list them
        print_summary(session.console(stderr=True), checked)


def _check_each(
    session: Session, words: str, output: Output, folded: bool, parsers: bool, who: str | None, every: bool
) -> int:
    """Print the findings of each commit of a range, parents first; return 1 if any has errors.

    `who` is the person who would push the range. `every`: the text has every finding in full.
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
    noted = not parsers
    grave = skipped = 0
    for commit in commits:
        forbidden = refused.get(commit, ())
        if not is_repository(source.repository.at(commit)):
            skipped += 1
            grave += _print_skipped(session, source.repository, history, commit, forbidden)
            continue
        with source.at(commit) as fleet:
            noted = noted or note_missing_parser(session, fleet)
            checked = _with(fleet.all_checked if parsers else fleet.checked, forbidden)
            if output is Output.TEXT:
                _print_commit(session, history, fleet, checked, every)
            else:
                _write_commit(fleet, checked, output, folded)
            noted = noted or note_missing_parser(session, fleet)
        grave += checked.grave
    number = counted(len(commits) - skipped, "commit")
    text = (
        f"{grave} of {number} {'has' if grave == 1 else 'have'} errors."
        if grave
        else f"No errors in {number}."
    )
    session.console(stderr=True).print(text, style="red" if grave else "green")
    return int(grave > 0)


def _range_ends(repository: "Repository", words: str) -> tuple[str, str]:
    """Return the commits A and B of `A..B`. Raise GitcfgError if the words are not a range."""
    if ".." not in words:
        hint = f"Write A..B, for example main..{words}; `gitcfg check --at {words}` checks one commit."
        raise GitcfgError(f"--each takes a range, and {safe(words)} is not one.", safe(hint))
    if "..." in words:
        hint = f"Write {words.replace('...', '..', 1)} for the commits that only the second has."
        raise GitcfgError(f"--each takes A..B, and {safe(words)} has three dots.", safe(hint))
    old, new = (repository.at(end or "HEAD").commit or "" for end in words.split("..", 1))
    return old, new


def _with(checked: "Checked", more: "tuple[Finding, ...]") -> "Checked":
    if not more:
        return checked
    from gitcfg.check.findings import folded

    return replace(checked, findings=folded((*checked.findings, *more)))


def _print_commit(
    session: Session, history: "History", fleet: "Fleet", checked: "Checked", every: bool
) -> None:
    """Print a commit's findings below a headline."""
    from gitcfg.cli.findings import HERE, print_findings

    console = session.console()
    console.print(_headline(history, fleet.commit or ""), style="bold")
    print_findings(console, fleet.tree, checked.findings, checked.every, replace(HERE, whole=every))


def _write_commit(fleet: "Fleet", checked: "Checked", output: Output, folded: bool) -> None:
    """Write a commit's findings: a line, a line for each finding, or a document of YAML."""
    from gitcfg.explain.trail import findings_record

    record = findings_record(fleet.commit, checked.findings, folded)
    if output is Output.YAML:
        from gitcfg.load.yaml import dump

        write("---\n" + dump(msgspec.to_builtins(record)))
    else:
        parts = lines(record) if output is Output.JSONL else (record,)
        write("".join(msgspec.json.encode(part).decode() + "\n" for part in parts))
    sys.stdout.flush()  # so that the output of a long range can be read during the checks


def _headline(history: "History", id: str) -> str:
    commit = history.about(id)
    return f"{id[:ABBREVIATED]} {commit.date[:10]} {safe(commit.author)}: {safe(commit.subject)}"


def _print_skipped(
    session: Session, repository: "Repository", history: "History", id: str, refused: "tuple[Finding, ...]"
) -> bool:
    """Print that a commit has no gitcfg.yaml, and the gate's objections to it; return whether it has any."""
    from gitcfg.load.repository import FILE

    console = session.console(stderr=True)
    console.print(f"note: There is no {FILE} in {_headline(history, id)}")
    if refused:
        from gitcfg.cli.findings import print_findings

        print_findings(console, repository.at(id), refused)
    return bool(refused)


def note_missing_parser(session: Session, fleet: "Fleet") -> bool:
    """Print that HTCondor's own parser is not installed, if a fleet needs it; return whether it does.

    That may be unknown before the fleet is checked, so call this afterwards as well.
    """
    if not fleet.lacks_parser():
        return False
    console = session.console(stderr=True)
    console.print(
        "note: HTCondor's own parser is not installed, so it did not check HTCondor files (GC307).",
        style="yellow",
    )
    console.print(f"hint: {install_hint('htcondor')}", style="cyan")
    return True


def _find_hold_warnings(source: "Source", fleet: "Fleet") -> Iterator[str]:
    """Yield a warning for each hold whose commit servers will not have.

    In a shallow clone, missing commits cause no warning.
    """
    from gitcfg.gate.reach import describe_stray_holds, has_holds
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
    """Return what is wrong with a commit at which nodes are held; "" if nothing is."""
    if not repository.knows(commit):
        return "which does not exist in this repository"
    if history.includes(head, str(repository.commit(commit).id)):
        return ""
    return "which is not an ancestor of the checked commit: servers have only what a protected branch has"
