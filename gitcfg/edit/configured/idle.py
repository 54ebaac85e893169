"""Values that a definition gives only for a feature that has gone."""

import re
from collections.abc import Iterable, Iterator, Set

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.operations import Step


class Idle(msgspec.Struct, frozen=True):
    """A parameter that nobody asks for any more, and the features that did."""

    param: str
    features: tuple[str, ...]


def find_idle(
    params: Iterable[str],
    label: str,
    before: Iterable[NodeClass],
    after: Iterable[NodeClass],
    declarations: Declarations,
) -> tuple[Idle, ...]:
    """Of the parameters that a definition binds, those that only features asked for which have gone.

    A feature asks for what it binds, what that depends on, and what its values mention (`$(NAME)`); so does
    every other layer. `label` is the definition's own layer, whose say does not count.
    """
    before, after = tuple(before), tuple(after)
    lost = _features(before) - _features(after)
    params = tuple(params)
    if not lost or not params:
        return ()
    mention = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, params))})(?![\w.-])")
    asked = _askers(before, label, declarations, mention)
    asking = _askers(after, label, declarations, mention)
    named = {name for kind in after for entry in kind.files.values() for name in entry.params}
    found = {}
    for param in params:
        gone = {asker.removeprefix("feature ") for asker in asked.get(param, ())} & lost
        if gone and not asking.get(param) and param not in named:
            found[param] = Idle(param, tuple(sorted(gone)))
    return tuple(found[param] for param in _unneeded(params, found.keys(), declarations))


def _unneeded(params: tuple[str, ...], idle: Set[str], declarations: Declarations) -> tuple[str, ...]:
    """Those that nothing which the definition goes on to bind depends on."""
    kept = [param for param in params if param not in idle]
    needed = {name for param in kept for name in _with_needs(param, declarations)}
    return tuple(param for param in params if param in idle and param not in needed)


def _features(kinds: Iterable[NodeClass]) -> frozenset[str]:
    return frozenset[str]().union(*(kind.features for kind in kinds))


def _askers(
    kinds: Iterable[NodeClass], label: str, declarations: Declarations, mention: re.Pattern[str]
) -> dict[str, set[str]]:
    """By parameter the layers, other than this one, that ask for it."""
    found: dict[str, set[str]] = {}
    parts = {id(part): part for kind in kinds for part in kind.parts}
    for part in parts.values():
        for name in part.cells:
            for step, path in part.steps(name):
                if path[0] == label:
                    continue
                said = mention.findall(msgspec.json.encode(step.given).decode()) if _speaks(step) else ()
                for asked in (*_with_needs(name, declarations), *said):
                    found.setdefault(asked, set()).add(path[0])
    return found


def _speaks(step: Step) -> bool:
    return isinstance(step.given, str | list | dict)


def _with_needs(name: str, declarations: Declarations) -> Iterator[str]:
    """A parameter and all that it depends on, however far."""
    seen, todo = set[str](), [name]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            yield name
            parameter = declarations.find(name)
            todo += [ref.name for ref in parameter.depends] if parameter is not None else ()
