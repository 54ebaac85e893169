"""Which side is to count, asked of somebody at a terminal."""

import sys

import msgspec

from gitcfg.edit.merge import Clash
from gitcfg.git.revert import Side
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

_SAID = {"o": Side.OURS, "ours": Side.OURS, "t": Side.THEIRS, "theirs": Side.THEIRS}


class Question(msgspec.Struct, frozen=True):
    """What is to be settled at once; `rest` is how much more there is of the same entity."""

    clashes: tuple[Clash, ...]
    rest: int = 0

    @property
    def text(self) -> str:
        """`group Workers: START: leave it as it is now (ours: two), ... [o/t/Q] `."""
        first = self.clashes[0]
        alone = len(self.clashes) == 1 and bool(first.key)
        named = f"{first.label}: {first.what}" if alone else " and ".join(self.labels)
        here, back = (_value(side) if alone else "" for side in (first.now, first.undone))
        more = f", O or T the same for all {self.rest + 1} that are left of it" if self.rest else ""
        keys = "o/t/O/T/Q" if self.rest else "o/t/Q"
        return safe(
            f"{named}: leave it as it is now (ours{here}), make it as it was (theirs{back}){more}, or quit? "
            f"[{keys}] "
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The entities that it is about."""
        return tuple(dict.fromkeys(clash.label for clash in self.clashes))


class Reply(msgspec.Struct, frozen=True):
    """Which side counts, and whether for the rest of the entity, too."""

    side: Side
    for_rest: bool = False


def answered(question: Question) -> Reply:
    """What somebody at a terminal says. GitcfgError (1): they give up."""
    while True:
        print(question.text, end="", file=sys.stderr, flush=True)
        said = sys.stdin.readline().strip()
        if said.lower() in ("", "q", "quit"):
            raise GitcfgError("Nothing was changed.", code=1)
        if said.lower() in _SAID:
            return Reply(_SAID[said.lower()], bool(question.rest) and said in ("O", "T"))


def _value(said: str | None) -> str:
    """`: three`; nothing where that is a whole text."""
    return ": nothing" if said is None else f": {said}" if said else ""
