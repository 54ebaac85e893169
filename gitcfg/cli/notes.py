"""What an import could not carry over as it was, for eyes."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from gitcfg.cli.plain import counted, safe
from gitcfg.convert.notes import Note

_COLOR = {"dropped": "bold red", "changed": "bold yellow", "look": "bold cyan"}


def show(console: Console, notes: Iterable[Note]) -> None:
    """The notes by weight and reason, each with all the places it is about."""
    places: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        where = " ".join(filter(None, (note.kind, note.name, note.field)))
        places.setdefault((str(note.weight), note.reason), []).append(where)
    for (weight, reason), where_all in places.items():
        line = Text(f"{weight}: ", _COLOR[weight])
        console.print(line + Text(f"{safe(reason)} ({counted(len(where_all), 'place')})", "default"))
        console.print(Text(f"  {safe(', '.join(where_all))}", "dim"))
