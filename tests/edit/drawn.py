"""Random changes, what they make of plain values, and their inverses."""

from copy import deepcopy
from random import Random
from typing import Any

from gitcfg.edit.yaml.changes import Change, Delete, Insert, Move, Path, Rename, Set
from gitcfg.edit.yaml.tree import from_json
from tests.edit.styled import KEYS, value


def containers(found: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """All mappings and lists in a value."""
    if not isinstance(found, dict | list):
        return []
    inner = found.items() if isinstance(found, dict) else enumerate(found)
    return [(path, found), *(each for key, v in inner for each in containers(v, (*path, key)))]


def at(found: Any, path: Path) -> Any:
    for step in path:
        found = found[step]
    return found


def change(rng: Random, found: Any) -> tuple[Change, Any, Change | None]:
    """A change that fits a value, what it makes of it by hand, and the change that takes it back."""
    path, holder = rng.choice(containers(found))
    after = deepcopy(found)
    here = at(after, path)
    if isinstance(holder, list):
        return _in_list(rng, path, here, after)
    name = rng.choice((*KEYS, "new one"))
    new = value(rng, 1)
    if name not in holder:
        here[name] = new
        return Set((*path, name), from_json(new)), after, Delete((*path, name)) if holder else None
    kind = rng.randrange(4)
    if kind == 0:
        del here[name]
        return Delete((*path, name)), after, None
    if kind == 1:
        renamed = {("other" if key == name else key): v for key, v in here.items()}
        here.clear()
        here.update(renamed)
        return Rename((*path, name), "other"), after, Rename((*path, "other"), name)
    here[name] = new
    return Set((*path, name), from_json(new)), after, None


def _in_list(rng: Random, path: Path, here: list[Any], after: Any) -> tuple[Change, Any, Change | None]:
    kind = rng.randrange(3)
    if kind == 0 or not here:
        place, new = rng.randint(0, len(here)), value(rng, 1)
        inverse = Delete((*path, place))
        here.insert(place, new)
        return Insert(path, place, from_json(new)), after, inverse
    start, to = rng.randrange(len(here)), rng.randrange(len(here))
    if kind == 1:
        here.insert(to, here.pop(start))
        return Move(path, start, to), after, Move(path, to, start)
    here.pop(start)
    return Delete((*path, start)), after, None
