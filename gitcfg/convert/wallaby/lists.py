"""Lists of names as the repository writes them: each once, highest priority first."""

from collections.abc import Callable, Iterable

from gitcfg.convert.notes import Place
from gitcfg.model.names import shown


def translate_names(
    names: Iterable[str], called: Callable[[str], str | None], field: str, place: Place
) -> list[str]:
    """Names as the repository calls them; None: it has no such thing, which is noted."""
    result: dict[str, None] = {}
    for name in names:
        new = called(name)
        if new is None:
            place.dropped(field, f"{shown(name)} is not carried over.")
        elif new in result:
            place.dropped(field, f"{shown(name)} stands twice in the list; the first place counts.")
        else:
            result[new] = None
    return list(result)
