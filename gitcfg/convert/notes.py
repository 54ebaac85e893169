"""Notes on what an import could not keep as it was, and where."""

from enum import StrEnum

import msgspec


class Weight(StrEnum):
    """The importance of a note, highest first."""

    DROPPED = "dropped"  # it is not in the repository
    CHANGED = "changed"  # it is there in another form, or means something else in a corner
    LOOK = "look"  # it is there as it was, and should be looked at


class Note(msgspec.Struct, frozen=True):
    """A note on an object of some kind and name, or without a name on all of that kind."""

    kind: str
    name: str
    field: str
    reason: str
    weight: Weight


_ORDER = {weight: place for place, weight in enumerate(Weight)}


def sort_notes(notes: list[Note]) -> tuple[Note, ...]:
    """Return the notes by importance, then by place."""
    return tuple(sorted(notes, key=lambda n: (_ORDER[n.weight], n.kind, n.name, n.field, n.reason)))


class Place:
    """A place in what is imported, for the notes on it."""

    def __init__(self, notes: list[Note], kind: str, name: str) -> None:
        self.notes = notes
        self.kind = kind
        self.name = name

    def dropped(self, field: str, reason: str) -> None:
        """Note what is left out."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.DROPPED))

    def changed(self, field: str, reason: str) -> None:
        """Note what is kept in another form."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.CHANGED))

    def look(self, field: str, reason: str) -> None:
        """Note what should be looked at."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.LOOK))
