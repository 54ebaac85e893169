"""Where files mention a definition by name, and the changes that let them name it otherwise."""

from collections.abc import Iterator
from functools import partial

from gitcfg.edit import mentions
from gitcfg.edit.changes import Change, Rename, Set
from gitcfg.edit.mentions import rename_in_sheet
from gitcfg.edit.ruled import rename_in_allocations, rename_in_rules
from gitcfg.edit.spots import Meaning
from gitcfg.model.folders import LAYERS, SETTINGS

_ABOUT = {
    "parameter": ("GC201", "GC501", "GC503", "GC504", "GC508", "GC509", "GC510", "GC514"),
    "feature": ("GC502", "GC505"),
    "group": ("GC502",),
    "node": ("GC201", "GC506", "GC511"),
    "override": ("GC505", "GC507"),
    "hold": ("GC505", "GC507"),
    "secret": ("GC512",),
}
"""What warnings are about, by kind."""
_FEATURE_LISTS = ("include", "depends", "conflicts", "after", "features", "without")


def find_references(kind: str, file: str, said: Meaning, old: str, new: str) -> Iterator[Change]:
    """The changes of one file that follow a definition to its new name."""
    if not isinstance(said, dict):
        return
    folder = file.partition("/")[0]
    if folder == "rules":
        yield from rename_in_rules(kind, said, old, new)
    elif folder == "allocations":
        yield from rename_in_allocations(kind, said, old, new)
    elif file == SETTINGS:
        yield from _of_ignored(kind, said, old, new)
    else:
        yield from _of_definitions(kind, folder, said, old, new)


def _of_ignored(kind: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """The subjects of known warnings, where those of a code are about definitions of the kind."""
    entries = said.get("ignore")
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        if (
            isinstance(entry, dict)
            and entry.get("subject") == old
            and entry.get("code") in _ABOUT.get(kind, ())
        ):
            yield Set(("ignore", place, "subject"), new)


def _of_definitions(kind: str, folder: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    items = partial(mentions.rename_in_list, old=old, new=new)
    if folder in LAYERS:
        yield from mentions.rename_in_bindings(("params",), said.get("params"), kind, old, new)
    match kind:
        case "feature" if folder in LAYERS:
            for key in _FEATURE_LISTS:
                yield from items((key,), said.get(key))
        case "feature" if folder == "subsystems":
            yield from rename_in_sheet(said, "subsystems", ("features",), old, new)
        case "group" if folder in ("nodes", "nodesets"):
            yield from items(("groups",), said.get("groups"))
        case "node" if folder in ("nodesets", "overrides", "holds") and said.get("nodes") == old:
            yield Set(("nodes",), new)
        case "subsystem" if folder == "subsystems":
            yield from rename_in_sheet(said, "subsystems", ("covers",), old, new)
        case "parameter":
            yield from _of_parameter(folder, said, old, new)


def _of_parameter(folder: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    if folder == "parameters":
        yield from rename_in_sheet(said, "parameters", ("depends", "conflicts"), old, new)
    elif folder == "subsystems":
        yield from rename_in_sheet(said, "subsystems", ("params",), old, new)
    elif folder in LAYERS:
        files = said.get("files")
        for path, entry in files.items() if isinstance(files, dict) else ():
            named = entry.get("params") if isinstance(entry, dict) else None
            yield from mentions.rename_in_list(("files", path, "params"), named, old, new)
            yield from mentions.rename_in_list(("files", path, "params"), named, f"!{old}", f"!{new}")
        params = said.get("params")
        if isinstance(params, dict) and old in params:
            yield Rename(("params", old), new)
