"""What an import could not carry over as it was, for eyes."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from gitcfg.convert.notes import Note
from gitcfg.model.text import counted, safe

_COLOR = {"dropped": "bold red", "changed": "bold yellow", "look": "bold cyan"}
_FIRST = 5  # places of a note that are shown unless all are asked for
_MORE = 2  # so many more are shown too: to say how many there are takes as much room


def show(console: Console, notes: Iterable[Note], all_places: bool) -> None:
    """The notes by weight and reason, each with the first of the places it is about, or all of them."""
    places: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        where = " ".join(filter(None, (note.kind, note.name, note.field)))
        places.setdefault((str(note.weight), note.reason), []).append(where)
    cut = False
    for (weight, reason), found in places.items():
        line = Text(f"{weight}: ", _COLOR[weight])
        console.print(line + Text(f"{safe(reason)} ({counted(len(found), 'place')})", "default"))
        some = found if all_places or len(found) <= _FIRST + _MORE else found[:_FIRST]
        more = f", and {len(found) - len(some)} more" if len(some) < len(found) else ""
        cut = cut or bool(more)
        console.print(Text(f"  {safe(', '.join(some))}{more}", "dim"))
    if cut:
        console.print("hint: --all-places lists every place.", style="cyan")
