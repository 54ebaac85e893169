"""The arguments and options by which a secret, its readers and its content are said."""

from typing import Annotated

import typer

Name = Annotated[str, typer.Argument(help="Which secret.", metavar="SECRET")]
New = Annotated[str, typer.Argument(help="Which secret; one that is not there is made.", metavar="SECRET")]
Names = Annotated[
    list[str] | None,
    typer.Argument(help="Which secrets; else all that the change is about.", metavar="SECRET..."),
]
From = Annotated[
    str | None, typer.Option("--from", help="Take the content from a file; - is stdin.", metavar="FILE")
]
For = Annotated[
    str | None, typer.Option("--for", help="The nodes that may have it; a new one needs it.", metavar="CEL")
]
Readers = Annotated[
    list[str] | None,
    typer.Option(
        "--recipient",
        help="Who can read it, and nobody else: an age or SSH public key, or a file of them.",
        metavar="KEY|FILE",
    ),
]
Identity = Annotated[
    list[str] | None,
    typer.Option(
        "--identity",
        help="A file with a private key for secrets; else GITCFG_IDENTITY, else those at the usual places.",
        metavar="FILE",
    ),
]
At = Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")]
Folded = Annotated[bool, typer.Option("--folded", help="JSON: only node sets, no lists of nodes.")]
