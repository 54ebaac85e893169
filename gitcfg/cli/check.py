"""`gitcfg check`: everything that is wrong, for every node."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.session import Output, Session, fleet_of
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.check.results import Checked
    from gitcfg.library import Fleet, Source

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


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="The index instead of the work tree.")] = False,
    each: Annotated[str | None, _EACH] = None,
    every: Annotated[bool, _ALL] = False,
    form: Annotated[Form, _FORM] = Form.TEXT,
    folded: Annotated[
        bool, typer.Option("--folded", help="JSON: only node sets, no lists of nodes.")
    ] = False,
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
        from gitcfg.cli.each import check_each

        return check_each(session, each, Output(form), folded, parsers, who, every)
    source = session.open()
    with fleet_of(source, at, staged) as fleet:
        checked = check_with_parsers(session, fleet) if parsers else fleet.checked
        if form in FORGES:
            code = _report(session, checked, form, source.repository.prefix)
        else:
            code = write_checked(session, fleet, checked, Output(form), folded, every, ignored)
        _tell_astray(session, source, fleet)
    return code


def _refuse(at: str | None, staged: bool, each: str | None, form: Form) -> None:
    """GitcfgError: what is asked for does not go together."""
    asked = {"--at": at is not None, "--staged": staged, "--each": each is not None}
    said = [name for name, is_said in asked.items() if is_said]
    if len(said) > 1:
        raise GitcfgError(f"{' and '.join(said)} do not go together.", "Say one of them.")
    if each is not None and form in FORGES:
        hint = f"Say -o text, json, jsonl or yaml; `gitcfg check --at REV -o {form}` reports one commit."
        raise GitcfgError(f"-o {form} shows lines of one commit, and --each has many.", hint)


def check_with_parsers(session: Session, fleet: "Fleet") -> "Checked":
    """Check with targets' own parsers, and say what none is there for: before the work, if that is known."""
    from gitcfg.cli.unjudged import ParserNotice

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
    """Write what a check found, if asked for with what is ignored, and return the exit code.

    `every`: text leaves nothing out.
    """
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record
        from gitcfg.explain.trail import findings_record, ignored_records

        record = findings_record(fleet.commit, checked.findings, folded)
        more = ignored_records(checked.ignored, folded) if ignored else []
        if output is Output.JSONL:
            record["findings"] += more
        elif ignored:
            record["ignored"] = more
        write_record(record, output)
    else:
        from msgspec.structs import replace

        from gitcfg.cli.findings import HERE, print_findings, print_ignored, print_summary

        ways = replace(HERE, whole=every)
        print_findings(session.console(), fleet.tree, checked.findings, checked.every, ways)
        if ignored:
            print_ignored(session.console(), fleet.tree, checked, ways)
            checked = replace(checked, ignored=())  # the last line need not say where they are
        print_summary(session.console(stderr=True), checked)
    return int(checked.grave)


def _report(session: Session, checked: "Checked", form: Form, prefix: str) -> int:
    """Write what a check found for a forge, and for its log how it stands; return the exit code."""
    from gitcfg.cli.findings import print_summary
    from gitcfg.cli.reports import write_report

    write_report(form, checked.findings, prefix)
    print_summary(session.console(stderr=True), checked)
    return int(checked.grave)


def _tell_astray(session: Session, source: "Source", fleet: "Fleet") -> None:
    from gitcfg.cli.hold_warnings import find_warnings

    for text in find_warnings(source, fleet):
        session.console(stderr=True).print(text, style="yellow")
