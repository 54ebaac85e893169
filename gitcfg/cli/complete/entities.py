"""Things in a repository as answers of `gitcfg undo` name them: `group/Workers`, `group/Workers:START`."""

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitcfg.cli.complete.names import Names

_OF_FILES = {
    "feature": "features",
    "group": "groups",
    "node": "nodes",
    "nodeset": "nodesets",
    "override": "overrides",
    "hold": "holds",
    "secret": "secrets",
    "allocation": "allocations",
}
_OF_SHEETS = {"parameter": "parameters", "subsystem": "subsystems", "rule": "rules"}
_PLAIN = {"template": "templates", "file": "files"}
_FOLDERS = {**_OF_FILES, **_OF_SHEETS, **_PLAIN}
_MAPPINGS = ("params", "files", "facts")


def entities(names: "Names") -> Iterator[str]:
    """Kinds that have a folder; behind `group/` the groups, behind `group/Workers:` what that says."""
    kind, slash, rest = names.prefix.partition("/")
    if not slash:
        yield from (f"{each}/" for each in _FOLDERS if _is_there(names, each))
    elif kind in _FOLDERS:
        found = _inside(names, kind, rest) if ":" in rest and kind in _OF_FILES else ()
        legal = re.compile(names.patterns.get(kind, names.patterns["path"]))
        known = (name for name in _named(names.within(rest), kind) if legal.fullmatch(name))
        yield from (f"{kind}/{name}" for name in (*found, *known))


def _is_there(names: "Names", kind: str) -> bool:
    """Is there a folder of a kind that this version reads? Of what it does not, no names are legal."""
    known = kind in _PLAIN or kind in names.patterns
    root = names.files.root
    return known and root is not None and os.path.isdir(os.path.join(root, _FOLDERS[kind]))


def _named(names: "Names", kind: str) -> Iterator[str]:
    folder = _FOLDERS[kind]
    if kind in _OF_SHEETS:
        return names.keys(folder, folder)
    return names.defined(folder) if kind in _OF_FILES else (path for path, _ in names.files.below(folder))


def _inside(names: "Names", kind: str, rest: str) -> Iterator[str]:
    """What the definitions say that are named before the colon: parameters by their names alone."""
    from gitcfg.cli.complete.reading import entries

    legal = re.compile(names.patterns[kind])
    for name, place in names.files.named(_FOLDERS[kind]):
        if rest.startswith(f"{name.casefold()}:") and legal.fullmatch(name):
            for entry in entries(names.files.read(place)):
                if entry.above == "params":
                    yield f"{name}:{entry.key}"
                elif entry.above in _MAPPINGS:
                    yield f"{name}:{entry.above}:{entry.key}"
                elif not entry.above and entry.key not in _MAPPINGS:
                    yield f"{name}:{entry.key}"
