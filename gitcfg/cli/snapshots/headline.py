"""A snapshot on one line, and the argument that names one."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.model.text import ABBREVIATED, safe

if TYPE_CHECKING:
    from gitcfg.git.refs import Snapshot

_SnapshotName = Annotated[str, typer.Argument(help="The snapshot.", metavar="SNAPSHOT")]


def _format_snapshot(found: "Snapshot") -> str:
    """Its name, commit, day, and who made it what for."""
    who, said = safe(found.author), safe(found.message.partition("\n")[0])
    return f"{safe(found.name)}  {found.commit[:ABBREVIATED]}  {found.date[:10]}  {who}: {said}"
