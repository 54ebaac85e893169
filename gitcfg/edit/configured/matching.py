"""Names that are typed by their beginnings, or nearly right."""

import difflib
from collections.abc import Collection

import msgspec


class Match(msgspec.Struct, frozen=True):
    """What a text may mean. `sure` is a name that it is, or alone begins; else some are `near`, or none.

    `begun`: the near ones begin with the text.
    """

    sure: str | None
    near: tuple[str, ...] = ()
    begun: bool = False


def match_name(text: str, known: Collection[str]) -> Match:
    """The names that a text may stand for. Case counts only where two names differ in nothing else."""
    if text in known:
        return Match(text)
    folded = text.casefold()
    begun = tuple(sorted(name for name in known if name.casefold().startswith(folded)))
    equal = [name for name in begun if name.casefold() == folded]
    if len(begun) == 1 or len(equal) == 1:
        return Match((equal or begun)[0])
    if begun:
        return Match(None, begun, begun=True)
    names = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(folded[:80], names, n=3, cutoff=0.75)
    return Match(None, tuple(names[name] for name in near))
