"""Files that were changed again since, and which side counts in them as far as that was said."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.edit.merge import Clash, Place, Sides, settle_file
from gitcfg.git.revert import Conflict, Side
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Answers = Mapping[str, Side]
"""Which side counts, by entity (`group/Workers`) or by what of it (`group/Workers:START`)."""


class Contested(msgspec.Struct, frozen=True):
    """A file that was changed again since, with all that does not go together in it.

    `path` is the repository's, that of the conflict is git's.
    """

    conflict: Conflict
    path: str
    clashes: tuple[Clash, ...]

    @property
    def sides(self) -> Sides:
        """What it held then, holds now, and would hold."""
        return self.conflict.base, self.conflict.ours, self.conflict.theirs

    @property
    def certain(self) -> bytes | None:
        """What the editor makes of it where nothing was changed twice; None: that is not certain."""
        return settle_file(self.path, self.sides, {}) if all(clash.beside for clash in self.clashes) else None

    @property
    def apart(self) -> bool:
        """Can what clashes be settled one by one? Tried with the first one by itself, either way."""
        if len(self.clashes) < 2 or any(clash.beside for clash in self.clashes):
            return False
        first, *rest = (place(clash) for clash in self.clashes)
        one = {first: Side.OURS, **dict.fromkeys(rest, Side.THEIRS)}
        other = {first: Side.THEIRS, **dict.fromkeys(rest, Side.OURS)}
        return all(settle_file(self.path, self.sides, each) is not None for each in (one, other))

    def name(self, clash: Clash) -> str:
        """The shortest name by which an answer means this clash and no other."""
        return self.names(clash)[-1]

    def names(self, clash: Clash) -> tuple[str, ...]:
        """The names by which an answer means it: a parameter `features` is no list of features."""
        full, *short = clash.spellings
        taken = {other.spellings[0] for other in self.clashes}
        return full, *(name for name in short if name not in taken)

    def said(self, answers: Answers) -> dict[Place, Side]:
        """Which side counts for what clashes, as far as it is said; what is said of less counts more."""
        found: dict[Place, Side] = {}
        for clash in self.clashes:
            for name in (*self.names(clash), clash.entity):
                if name in answers:
                    found[place(clash)] = answers[name]
                    break
        return found

    def left(self, answers: Answers) -> list[Clash]:
        """What nothing is said of yet."""
        known = self.said(answers)
        return [clash for clash in self.clashes if place(clash) not in known]

    def choice(self, answers: Answers) -> Side | bytes:
        """The side that counts, or where both do the text that they give. GitcfgError: there is none."""
        known = self.said(answers)
        both = set(known.values())
        if len(both) == 1:
            return both.pop()
        text = settle_file(self.path, self.sides, known)
        if text is None:
            names = " and ".join(dict.fromkeys(map(self.name, self.clashes)))
            message = f"{names} stand too near together to be settled apart."
            raise GitcfgError(message, "Say --ours of all of them, or --theirs.")
        return text


def place(clash: Clash) -> Place:
    """What a clash is about."""
    return clash.entity, clash.key


def refuse_unknown(answers: Answers, files: Iterable[Contested]) -> None:
    """GitcfgError: something is said of what does not clash."""
    named = {name for file in files for clash in file.clashes for name in (*file.names(clash), clash.entity)}
    known = dict.fromkeys(name for file in files for clash in file.clashes for name in _told(file, clash))
    for name in answers:
        if name not in named:
            hint = f"These do: {', '.join(sorted(known))}." if known else "There is no conflict."
            raise GitcfgError(f"{shown(name)} takes part in no conflict.", hint)


def _told(file: Contested, clash: Clash) -> tuple[str, ...]:
    """An entity, and what of it can be settled by itself."""
    return (clash.entity, file.name(clash)) if len(file.clashes) > 1 else (clash.entity,)
