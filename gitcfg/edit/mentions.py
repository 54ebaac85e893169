"""Lists that mention a definition by name, and the changes that let them name it otherwise."""

from collections.abc import Iterator

from gitcfg.edit.changes import Change, Path, Set
from gitcfg.edit.spots import Meaning


def rename_in_list(path: Path, said: Meaning, old: str, new: str) -> Iterator[Change]:
    """The items of a list, be it one of an operation, and the features of instances."""
    if isinstance(said, dict):
        for word, inner in said.items():
            if isinstance(inner, list):
                yield from rename_in_list((*path, word), inner, old, new)
        return
    for place, item in enumerate(said if isinstance(said, list) else ()):
        if item == old:
            yield Set((*path, place), new)
        elif isinstance(item, dict) and item.get("feature") == old:
            yield Set((*path, place, "feature"), new)


def rename_in_sheet(
    said: dict[str, Meaning], sheet: str, keys: tuple[str, ...], old: str, new: str
) -> Iterator[Change]:
    """The items of lists of all definitions in a file of many."""
    found = said.get(sheet)
    for name, inner in found.items() if isinstance(found, dict) else ():
        for key in keys if isinstance(inner, dict) else ():
            yield from rename_in_list((sheet, name, key), inner.get(key), old, new)


OPERANDS = {
    "secret": ("$secret",),
    "feature": ("$collect", "feature"),
    "parameter": ("$collect", "param"),
}
"""By kind, where operations name one."""


def rename_in_bindings(path: Path, params: Meaning, kind: str, old: str, new: str) -> Iterator[Change]:
    """The bindings of parameters that name a definition in what they say."""
    keys = OPERANDS.get(kind, ())
    own = kind == "parameter" and old == "name"  # what is collected then is the node's name
    for name, said in params.items() if isinstance(params, dict) and keys and not own else ():
        for key in keys:
            said = said.get(key) if isinstance(said, dict) else None
        if said == old:
            yield Set((*path, name, *keys), new)
