"""Names no more than somebody can look through."""

from collections.abc import Collection

_MOST = 2000
_STEMS = 100


def few(names: Collection[str], prefix: str) -> tuple[list[str], bool]:
    """The names that begin with a prefix, in order; if they are too many, only how they go on.

    Names that begin with it but for small and capital letters count where no other does. False: these
    are beginnings, each of all its names.
    """
    low = prefix.casefold()
    found = {name for name in names if name.startswith(prefix)}
    found = found or {name for name in names if name.casefold().startswith(low)}
    if len(found) <= _MOST:
        return sorted(found), True
    return sorted(_stems(found, len(prefix))), False


def _stems(names: set[str], length: int) -> set[str]:
    """The longest beginnings of equal length that are no more than can be looked through."""
    longer = stems = {name[: length + 1] for name in names}
    while len(longer) <= _STEMS:
        stems = longer
        length += 1
        longer = {name[: length + 1] for name in names}
    return stems
