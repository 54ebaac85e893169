"""What an import could not carry over as it was, and where."""

from enum import StrEnum

import msgspec


class Weight(StrEnum):
    """How much a note matters, the heaviest first."""

    DROPPED = "dropped"  # it is not in the repository
    CHANGED = "changed"  # it is there in another form, or means something else in a corner
    LOOK = "look"  # it is there as it was, and someone should look at it


class Note(msgspec.Struct, frozen=True):
    """One thing to know: kind and name are those of what is imported; no name: all of that kind, or all."""

    kind: str
    name: str
    field: str
    reason: str
    weight: Weight


_ORDER = {weight: place for place, weight in enumerate(Weight)}


def sort_notes(notes: list[Note]) -> tuple[Note, ...]:
    """The heaviest first, then by place."""
    return tuple(sorted(notes, key=lambda n: (_ORDER[n.weight], n.kind, n.name, n.field, n.reason)))


class Place:
    """One place in what is imported, to note things about."""

    def __init__(self, notes: list[Note], kind: str, name: str) -> None:
        self.notes = notes
        self.kind = kind
        self.name = name

    def dropped(self, field: str, reason: str) -> None:
        """Note what is not carried over."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.DROPPED))

    def changed(self, field: str, reason: str) -> None:
        """Note what is carried over in another form."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.CHANGED))

    def look(self, field: str, reason: str) -> None:
        """Note what somebody should look at."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.LOOK))
