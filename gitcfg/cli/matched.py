"""Where texts are found, for eyes: definition by definition, what is found marked."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Console
from rich.text import Text

from gitcfg.cli.trails import aligned, place_text
from gitcfg.explain.search import Match
from gitcfg.model.text import safe


def print_matches(console: Console, matches: Iterable[Match]) -> None:
    """Every definition with its matches."""
    for (kind, name), found in groupby(matches, key=lambda match: (match.kind, match.name)):
        console.print(Text(f"{kind} ") + Text(safe(name), "bold"))
        for row in aligned([_row(match) for match in found]):
            console.print(Text("  ") + row)


def _row(match: Match) -> tuple[Text, ...]:
    return Text(safe(match.field), "cyan"), place_text(match.origin), Text().join(_marked(match))


def _marked(match: Match) -> Iterator[Text]:
    """The excerpt, with what is found set off."""
    last = 0
    for start, end in match.spans:
        yield Text(safe(match.excerpt[last:start]))
        yield Text(safe(match.excerpt[start:end]), "bold red")
        last = end
    yield Text(safe(match.excerpt[last:]))
