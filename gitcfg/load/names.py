"""Which definitions a folder holds: legal names, each once, none differing only in case (GC103)."""

import re
from collections.abc import Iterable

from gitcfg.load.reading import Reading
from gitcfg.model import Finding, Origin, Ref
from gitcfg.model.names import shown


class Register:
    """The names of one kind; one that is taken, or nearly, is a finding."""

    def __init__(self, reading: Reading, noun: str, pattern: re.Pattern[str]) -> None:
        self.reading = reading
        self.noun = noun
        self.pattern = pattern
        self.places: dict[str, Origin] = {}
        self.folded: dict[str, str] = {}

    def admit(self, name: str, origin: Origin) -> bool:
        """May this name be defined here? Why not is reported."""
        if not self.pattern.fullmatch(name):
            self.reading.report("GC103", name, f"{shown(name)!r} is no name for a {self.noun}.", origin)
            return False
        first = self.folded.setdefault(name.casefold(), name)
        if name in self.places:
            message = f"The {self.noun} {name} is defined twice."
            self.reading.report("GC103", name, message, origin, self.places[name])
            return False
        if first != name:
            self.near(name, first, origin)
        self.places[name] = origin
        return True

    def near(self, name: str, first: str, origin: Origin) -> None:
        names = (min(name, first), max(name, first))
        message = f"The {self.noun}s {names[0]} and {names[1]} differ only in case."
        self.reading.findings.append(Finding("GC103", names, message, (origin, self.places[first])))


def once(reading: Reading, refs: Iterable[Ref], banned: str = "") -> tuple[Ref, ...]:
    """The names of a list, each once; a second mention and the banned one are findings."""
    kept: dict[str, Ref] = {}
    for ref in refs:
        if ref.name in kept:
            message = f"{shown(ref.name)} stands twice in this list."
            reading.report("GC103", ref.name, message, ref.origin, kept[ref.name].origin)
        elif banned and ref.name == banned:
            message = f"{ref.name} is the default group: every node is in it without being told."
            reading.report("GC103", ref.name, message, ref.origin, hint="Take it out of the list.")
        else:
            kept[ref.name] = ref
    return tuple(kept.values())
