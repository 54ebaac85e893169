"""`gitcfg snapshot list`: all snapshots."""

from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session
from gitcfg.cli.snapshots.headline import _format_snapshot

_LIST_EPILOG = """Examples:

  gitcfg snapshot list

  gitcfg snapshot list -o json

  gitcfg -C pool snapshot list"""


def list_snapshots(
    context: typer.Context,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> None:
    """List the snapshots, in order of name."""
    from gitcfg.edit.snapshots import snapshots_to_json
    from gitcfg.git.refs import Snapshots

    session: Session = context.obj
    found = list(Snapshots(session.open().repository).all())
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(snapshots_to_json(found), output)
        return
    for each in found:
        session.write(f"{_format_snapshot(each)}\n")
    if not found:
        session.console(stderr=True).print("There is no snapshot; `gitcfg snapshot create NAME` makes one.")
