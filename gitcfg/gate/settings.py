"""What a push changes of the gate's own settings."""

from collections.abc import Iterator
from typing import Any

from gitcfg.gate.policy import SIGNERS
from gitcfg.git.tree import Tree
from gitcfg.load.reading import Reading
from gitcfg.load.root import FILE
from gitcfg.load.settings import load_settings
from gitcfg.model import Origin, Settings

_NAMES = ("protected", "check", "ratchet", "signatures")


def settings_changes(old: Tree | None, new: Tree) -> tuple[str, ...]:
    """A line for each; where there was nothing before, none."""
    return tuple(_changes(old, new)) if old is not None else ()


def _changes(old: Tree, new: Tree) -> Iterator[str]:
    before, after = _settings(old), _settings(new)
    for name in _NAMES:
        was, is_ = getattr(before, name), getattr(after, name)
        if was != is_:
            yield f"{FILE}: {name}: {_written(was)} -> {_written(is_)}"
    was_signers, are_signers = _lines(old), _lines(new)
    if was_signers != are_signers:
        more, less = len(are_signers - was_signers), len(was_signers - are_signers)
        yield f"{SIGNERS}: +{more} -{less} lines"


def _settings(tree: Tree) -> Settings:
    return load_settings(Reading(tree)) or Settings(Origin(FILE))


def _lines(tree: Tree) -> frozenset[bytes]:
    entry = tree.entry(SIGNERS)
    return frozenset(tree.read(entry).splitlines()) if entry is not None else frozenset()


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
