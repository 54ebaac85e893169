"""Where files mention a definition by name, and the changes that let them name it otherwise."""

from collections.abc import Iterator
from functools import partial

from gitcfg.edit.changes import Change, Path, Rename, Set
from gitcfg.edit.spots import Meaning
from gitcfg.model.kinds import LAYERS

_FEATURE_LISTS = ("include", "depends", "conflicts", "after", "features", "without")


def references(kind: str, file: str, said: Meaning, old: str, new: str) -> Iterator[Change]:
    """The changes of one file that follow a definition to its new name."""
    if not isinstance(said, dict):
        return
    folder = file.partition("/")[0]
    items = partial(_items, old=old, new=new)
    match kind:
        case "feature" if folder in LAYERS:
            for key in _FEATURE_LISTS:
                yield from items((key,), said.get(key))
        case "feature" if folder == "subsystems":
            yield from _below(said, "subsystems", ("features",), old, new)
        case "group" if folder in ("nodes", "nodesets"):
            yield from items(("groups",), said.get("groups"))
        case "node" if folder in ("nodesets", "overrides", "holds") and said.get("nodes") == old:
            yield Set(("nodes",), new)
        case "subsystem" if folder == "subsystems":
            yield from _below(said, "subsystems", ("covers",), old, new)
        case "parameter" | "secret":
            yield from (_of_parameter if kind == "parameter" else _of_secret)(folder, said, old, new)


def _of_parameter(folder: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    if folder == "parameters":
        yield from _below(said, "parameters", ("depends", "conflicts"), old, new)
    elif folder == "subsystems":
        yield from _below(said, "subsystems", ("params",), old, new)
    elif folder in LAYERS:
        files = said.get("files")
        for path, entry in files.items() if isinstance(files, dict) else ():
            named = entry.get("params") if isinstance(entry, dict) else None
            yield from _items(("files", path, "params"), named, old, new)
            yield from _items(("files", path, "params"), named, f"!{old}", f"!{new}")
        params = said.get("params")
        if isinstance(params, dict) and old in params:
            yield Rename(("params", old), new)


def _of_secret(folder: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    params = said.get("params") if folder in LAYERS else None
    for name, bound in params.items() if isinstance(params, dict) else ():
        if isinstance(bound, dict) and bound.get("$secret") == old:
            yield Set(("params", name, "$secret"), new)


def _below(
    said: dict[str, Meaning], sheet: str, keys: tuple[str, ...], old: str, new: str
) -> Iterator[Change]:
    """The items of lists of all definitions in a file of many."""
    found = said.get(sheet)
    for name, inner in found.items() if isinstance(found, dict) else ():
        for key in keys if isinstance(inner, dict) else ():
            yield from _items((sheet, name, key), inner.get(key), old, new)


def _items(path: Path, said: Meaning, old: str, new: str) -> Iterator[Change]:
    """The items of a list, be it one of an operation, and the features of instances."""
    if isinstance(said, dict):
        for word, inner in said.items():
            if isinstance(inner, list):
                yield from _items((*path, word), inner, old, new)
        return
    for place, item in enumerate(said if isinstance(said, list) else ()):
        if item == old:
            yield Set((*path, place), new)
        elif isinstance(item, dict) and item.get("feature") == old:
            yield Set((*path, place, "feature"), new)
