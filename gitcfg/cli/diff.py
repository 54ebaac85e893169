"""`gitcfg diff`: what changes on which nodes, and what must happen there."""

from enum import StrEnum
from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session

EPILOG = """Examples:

  gitcfg diff                         what your changes would do, against the last commit

  gitcfg diff main~3 main @Workers    between two commits, on a group's nodes

  gitcfg diff main --merge topic --files -o markdown"""


class Form(StrEnum):
    """What to write."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    MARKDOWN = "markdown"


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Revisions (HEAD and the work tree; A..B and A...B as git has them), then nodes.",
            metavar="REV|NODES",
            show_default=False,
        ),
    ] = None,
    where: Annotated[str | None, typer.Option(help="Nodes for which this holds.", metavar="CEL")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="The index instead of the work tree.")] = False,
    merge: Annotated[str, typer.Option(help="What merging this would change.", metavar="REV")] = "",
    stat: Annotated[bool, typer.Option("--stat", help="Only how much, a line for each change.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Rendered files, as unified diffs.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 if nodes change.")] = False,
    output: Annotated[Form, typer.Option("-o", "--output", help="What to write.")] = Form.TEXT,
    folded: Annotated[
        bool, typer.Option("--folded", help="JSON: only node sets, no lists of nodes.")
    ] = False,
) -> int:
    """Show what changes on nodes, and which subsystems restart; equal changes are told once."""
    from gitcfg.cli.sides import open_fleets, parse_words, refuse_ambiguous, select_on_either
    from gitcfg.gate.key_changes import key_changes
    from gitcfg.gate.secret_changes import secret_changes
    from gitcfg.gate.secret_words import secret_lines, secret_record
    from gitcfg.library import compare

    session: Session = context.obj
    source = session.open()
    found = parse_words(source, words or ())
    old, new = open_fleets(source, found, staged, merge)
    with old, new:
        refuse_ambiguous(found, (old, new))
        names = select_on_either((old, new), found.nodes, where)
        changes = compare(old, new, names)
        secrets = find_secret_changes(old, new) if names is None else ()
        besides = (
            *describe_secret_changes(secrets),
            *(describe_key_changes(old, new) if names is None else ()),
        )
        if output is Form.MARKDOWN:
            from gitcfg.cli.markdown import write_markdown

            write_markdown(changes, files, besides)
        elif output is not Form.TEXT:
            from gitcfg.cli.records import write_record
            from gitcfg.comparison.change import diff_record

            told = map(
                secret_change_to_json, secrets if output is not Form.JSONL else ()
            )  # lines are about nodes
            record = diff_record(old.commit, new.commit, changes, folded, told)
            write_record(record, Output(output))
        else:
            from gitcfg.cli.changes import print_changes, print_marked, print_reach

            print_changes(session.console(), changes, stat, files)
            console = session.console(stderr=True)
            print_marked(console, besides)
            print_reach(console, changes)
    return int(exit_code and bool(changes))
