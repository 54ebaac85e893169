"""What a push changes of the gate's own settings."""

from collections.abc import Iterator
from typing import Any

from gitcfg.gate.policy import load_signers
from gitcfg.git.signatures import signer_lines
from gitcfg.git.tree import Tree
from gitcfg.load.context import Reading
from gitcfg.load.repository import FILE, load_settings
from gitcfg.model import Ignore, Origin, Settings
from gitcfg.model.folders import SIGNERS
from gitcfg.model.names import selects

_SETTINGS = ("protected", "check", "ratchet", "signatures")


def describe_settings_changes(old: Tree | None, new: Tree, head: str = "") -> tuple[str, ...]:
    """A line for each; where there was nothing before, none. `head` is protected whatever they say."""
    return tuple(_describe_settings(old, new, head)) if old is not None else ()


def _describe_settings(old: Tree, new: Tree, head: str) -> Iterator[str]:
    before, after = _load_settings(old), _load_settings(new)
    for name in _SETTINGS:
        was, is_ = getattr(before, name), getattr(after, name)
        if was != is_:
            yield f"{FILE}: {name}: {_describe_value(was)} -> {_describe_value(is_)}"
    if head and selects(before.protected, head) and not selects(after.protected, head):
        yield f"{head} stays protected: only `git config gitcfg.protected` of the server opens it"
    for sign, here, there in (("+", after.ignore, before.ignore), ("-", before.ignore, after.ignore)):
        known = set(map(_describe_ignore, there))
        yield from (
            f"{FILE}: ignore: {sign} {entry}" for entry in map(_describe_ignore, here) if entry not in known
        )
    were, are = signer_lines(load_signers(old)), signer_lines(load_signers(new))
    if were != are:
        yield f"{SIGNERS}: +{len(are - were)} -{len(were - are)} lines"
    if after.signatures == "require" and not are and (were or before.signatures != "require"):
        yield f"{SIGNERS}: it names nobody, so protected refs take no push from now on"


def _load_settings(tree: Tree) -> Settings:
    return load_settings(Reading(tree)) or Settings(Origin(FILE))


def _describe_ignore(said: Ignore) -> str:
    until = f", until {said.until}" if said.until is not None else ""
    return f"{said.code}{f' of {said.subject}' if said.subject is not None else ''}: {said.reason}{until}"


def _describe_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
