"""The arguments and options by which what counts for some time is said."""

from typing import Annotated

import typer

_Name = Annotated[str, typer.Argument(help="What it is to be called.", metavar="NEW")]
_Nodes = Annotated[
    list[str] | None, typer.Argument(help="Nodes: names, exec[001-100], @group.", metavar="NODES")
]
_Where = Annotated[str | None, typer.Option(help="Nodes for which this holds.", metavar="CEL")]
_UntilDay = Annotated[str, typer.Option(help="The last day on which it counts.", metavar="YYYY-MM-DD")]
_Reason = Annotated[str, typer.Option(help="Why it is so.", metavar="TEXT")]
