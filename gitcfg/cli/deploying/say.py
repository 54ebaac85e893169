"""The options of `gitcfg deploy`, and those that are said together."""

from typing import Annotated

import msgspec
import typer

Nodes = Annotated[
    list[str] | None,
    typer.Argument(
        help="Nodes: names, exec[001-100], @group; all that are not retired without any.", metavar="NODES"
    ),
]
Where = Annotated[str | None, typer.Option(help="Nodes for which this holds.", metavar="CEL")]
At = Annotated[
    str | None,
    typer.Option(help="The commit; else the protected branch as it was fetched last.", metavar="REV"),
]
Unreviewed = Annotated[
    bool, typer.Option("--unreviewed", help="Also a commit that no protected branch has; needs --reason.")
]
Reason = Annotated[
    str | None, typer.Option(help="Why it cannot wait for a review; it is recorded.", metavar="TEXT")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Connect, and show what would change; exits 1 if anything would.")
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]
Resume = Annotated[
    str | None,
    typer.Option(help="Go on with the nodes of a run that are not well: its id, or last.", metavar="RUN"),
]
Batch = Annotated[
    str | None,
    typer.Option(
        help="How many nodes have had their turn after each batch: 1,10%,50%; the last one has all.",
        metavar="N|N%,...",
    ),
]
Jobs = Annotated[int, typer.Option(help="How many nodes at once.", metavar="N", min=1, max=1000)]
MaxFailures = Annotated[
    str | None,
    typer.Option(help="Begin nobody else once more nodes have failed, in the whole run.", metavar="N|N%"),
]
MaxUnreachable = Annotated[
    str | None,
    typer.Option(help="Begin nobody else once more nodes could not be reached.", metavar="N|N%"),
]
Timeout = Annotated[str, typer.Option(help="How long a node may take: 90s, 10m, 2h.", metavar="TIME")]
ConnectTimeout = Annotated[str, typer.Option(help="How long a connection may take.", metavar="TIME")]
User = Annotated[str | None, typer.Option(help="Who to log in as; else as ssh would.", metavar="TEXT")]
SshConfig = Annotated[
    str | None, typer.Option("--ssh-config", help="This file instead of ssh's own settings.", metavar="FILE")
]
AcceptNew = Annotated[
    bool,
    typer.Option("--accept-new", help="Trust hosts whose key is not known, and write it to known_hosts."),
]
Sudo = Annotated[
    bool | None,
    typer.Option("--sudo/--no-sudo", help="Through sudo or not; else unless root is logged in."),
]
AskSudo = Annotated[
    bool, typer.Option("--ask-sudo", help="Ask once for sudo's password; without a terminal it is read.")
]
Root = Annotated[str, typer.Option(help="The folder on the nodes that is /.", metavar="DIR")]
StateDir = Annotated[
    str, typer.Option("--state-dir", help="Where nodes keep what gitcfg knows of them.", metavar="DIR")
]


class Which(msgspec.Struct, frozen=True):
    """Which nodes and which commit; `resume` names a run that has both."""

    words: tuple[str, ...]
    where: str | None
    at: str | None
    resume: str | None


class Consent(msgspec.Struct, frozen=True):
    """What was agreed to beforehand."""

    yes: bool
    dry: bool
    unreviewed: bool
    reason: str | None
