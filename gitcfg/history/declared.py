"""Declarations of parameters at neighbouring commits: which names are declared as they were."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from gitcfg.compile.declarations import Declarations
from gitcfg.history.documents import Documents
from gitcfg.model import Parameter, Secret

T = TypeVar("T")


def parameters(documents: Documents, files: Mapping[str, bytes]) -> dict[str, Parameter]:
    """What the files of parameters/ declare; of a name that is declared twice, the first counts."""
    return _first(documents.parameters, files)


def secrets(documents: Documents, files: Mapping[str, bytes]) -> dict[str, Secret]:
    """The secrets that files of secrets/ describe; of one that is described twice, the first counts."""
    return _first(documents.secrets, files)


def _first(read: Callable[[str, bytes], Mapping[str, T]], files: Mapping[str, bytes]) -> dict[str, T]:
    """What files say by name, in order of path."""
    found: dict[str, T] = {}
    for path in sorted(files):
        for name, said in read(path, files[path]).items():
            found.setdefault(name, said)
    return found


def declarations(
    older: Declarations | None,
    known: Mapping[str, Parameter],
    implied: Mapping[str, str],
    sealed: Mapping[str, Secret],
) -> Declarations:
    """Declarations; the older ones if values and files mean the same by them."""
    same = older is not None and _same(older.parameters, known)
    declared = Declarations(older.parameters if older and same else known, {})
    # Operations imply the types of those names only that are declared without any.
    needed = {
        name: kind for name, kind in implied.items() if "${" in name or not declared.declared_kind(name)
    }
    if older is not None and same and older.implied == needed and _as_old(older.secrets, sealed):
        return older
    return Declarations(declared.parameters, needed, sealed)


def _as_old(ours: Mapping[str, Secret], theirs: Mapping[str, Secret]) -> bool:
    """Are the same secrets there, each in the same version?"""
    if ours is theirs:
        return True
    before, after = ({name: one.version for name, one in side.items()} for side in (ours, theirs))
    return before == after


def _same(ours: Mapping[str, Parameter], theirs: Mapping[str, Parameter]) -> bool:
    if ours is theirs:
        return True
    return ours.keys() == theirs.keys() and all(
        found is theirs[name] or _effect(found) == _effect(theirs[name]) for name, found in ours.items()
    )


def alike(ours: Declarations, theirs: Declarations) -> Callable[[str], bool]:
    """Does a name mean the same to values and files on both sides?

    Names that only an instance completes are never alike where anything differs; nor is any where a secret
    is another, for any may be bound to it.
    """
    if ours is theirs:
        return lambda name: True
    if not _as_old(ours.secrets, theirs.secrets):
        return lambda name: False

    @cache
    def same(name: str) -> bool:
        if "${" in name or ours.kind(name) != theirs.kind(name):
            return False
        before, after = ours.find(name), theirs.find(name)
        return before is after or _effect(before) == _effect(after)

    return same


def _effect(parameter: Parameter | None) -> Any:
    """What of a declaration decides over values, and over how files write them."""
    if parameter is None:
        return None
    given = parameter.default
    default = None if given is None else (given.op, repr(given.given), given.text)
    typing = (parameter.type, parameter.separator, parameter.unique, parameter.macros, parameter.secret)
    return typing, parameter.tags, parameter.must_change, default
