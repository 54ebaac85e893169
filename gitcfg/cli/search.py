"""`gitcfg search`: the places of a text in definitions."""

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.declaration import AtOption, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.explain.search import Match

EPILOG = """Examples:

  gitcfg search gpu                           in names, descriptions and values of everything

  gitcfg search "ticket 4711"                 a text with a blank in it

  gitcfg search slot partitionable -o json    only definitions that contain both"""


@command(EPILOG, Items("gitcfg.matches/1", "matches", "match"))
def search(
    context: typer.Context,
    texts: Annotated[list[str], typer.Argument(help="Texts to find; case does not matter.")],
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Find texts in names, descriptions and values. Exits 1 if nothing is found."""
    session: Session = context.obj
    with session.fleet(at) as fleet:
        from gitcfg.explain.search import matches_record
        from gitcfg.explain.search import search as find

        matches = find(fleet.compiled, texts)
        if output is not Output.TEXT:
            write_record(matches_record(fleet.commit, texts, matches), output)
        else:
            _print_matches(session.console(), matches)
            if not matches:
                session.console(stderr=True).print("Nothing found.", style="yellow")
    return int(not matches)


def _print_matches(console: "Console", matches: "Iterable[Match]") -> None:
    """Print every definition with its matches, which are highlighted."""
    from rich.text import Text

    from gitcfg.cli.trails import aligned, place_text
    from gitcfg.model.text import safe

    def excerpt(match: "Match") -> Text:
        text, last = Text(), 0
        for start, end in match.spans:
            text.append(safe(match.excerpt[last:start]))
            text.append(safe(match.excerpt[start:end]), "bold red")
            last = end
        return text.append(safe(match.excerpt[last:]))

    for (kind, name), found in groupby(matches, key=lambda match: (match.kind, match.name)):
        console.print(Text(f"{kind} ") + Text(safe(name), "bold"))
        rows = [(Text(safe(one.field), "cyan"), place_text(one.origin), excerpt(one)) for one in found]
        for row in aligned(rows):
            console.print(Text("  ") + row)
