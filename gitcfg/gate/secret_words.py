"""How changes of secrets are told, to people and to programs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gitcfg.comparison.change import Kind
from gitcfg.gate.secret_changes import SecretChange, condition
from gitcfg.model import Secret
from gitcfg.model.age import X25519, Recipient
from gitcfg.model.names import shown
from gitcfg.model.nodeset import abridged, fold
from gitcfg.model.text import counted

_KEY = 20  # so many letters of a key tell it from others


def describe_secret_changes(changes: Iterable[SecretChange]) -> tuple[str, ...]:
    """What changes, a line or more for each."""
    return tuple(line for change in changes for line in _describe_secret(change))


def _describe_secret(change: SecretChange) -> Iterator[str]:
    begins = f"secret {change.name}:"
    if change.kind is Kind.ADDED:
        keys = ", ".join(map(_describe_recipient, change.came)) or "nobody"
        yield f"{begins} new, for {describe_condition(change.new)}, read by {keys}"
    elif change.kind is Kind.REMOVED:
        yield f"{begins} gone"
    else:
        yield from (f"{begins} {said}" for said in _describe_changed(change))


def _describe_changed(change: SecretChange) -> Iterator[str]:
    if change.moved:
        yield f"for {describe_condition(change.old)} -> {describe_condition(change.new)}"
    for nodes, since in ((change.more, "now"), (change.fewer, "no more")):
        if nodes:
            yield f"{counted(len(nodes), 'node')} may have it {since}: {abridged(nodes)}"
    signs = [f"+{_describe_recipient(one)}" for one in change.came] + [
        f"-{_describe_recipient(one)}" for one in change.went
    ]
    if signs:
        yield f"recipients {' '.join(signs)}"
    if change.renewed and change.versions is not None:
        yield _describe_content(change, *change.versions)


def _describe_content(change: SecretChange, old: int, new: int) -> str:
    """What can be said without a key of its content; a version is never right for two of them."""
    if new == old:
        doubt = "other recipients, or another content: nobody can tell without a key"
        return f"another encrypted file, its version stays {new} ({doubt})"
    if new < old:
        doubt = f"nodes cannot tell it from an earlier one; `gitcfg secret set {change.name}` counts on"
        return f"version {old} -> {new}, which is lower: {doubt}"
    if not change.resealed:
        return f"version {old} -> {new}, but its encrypted file is the same one, so its content is, too"
    return f"version {old} -> {new}, another encrypted file"


def describe_condition(secret: Secret | None) -> str:
    """Which nodes may have a secret."""
    return shown(condition(secret) or "nobody", 200)


def _describe_recipient(one: Recipient) -> str:
    brief = one.key[:_KEY] if one.kind == X25519 else f"{one.kind} ...{one.key[-_KEY:]}"
    return shown(f"{brief} ({one.comment})" if one.comment else brief, 100)


def secret_change_to_json(change: SecretChange) -> dict[str, Any]:
    """What `gitcfg.diff/1` says of one."""
    record: dict[str, Any] = {"kind": change.kind, "name": change.name}
    if change.moved:
        record["for"] = {"old": condition(change.old), "new": condition(change.new)}
    if change.more or change.fewer:
        record["may"] = {"added": fold(change.more), "removed": fold(change.fewer)}
    if change.came or change.went:
        record["recipients"] = {
            "added": _recipients_to_json(change.came),
            "removed": _recipients_to_json(change.went),
        }
    if change.renewed and change.versions is not None:
        old, new = change.versions
        record["content"] = {"old": old, "new": new, "resealed": change.resealed}
    return record


def _recipients_to_json(found: Sequence[Recipient]) -> list[dict[str, str]]:
    return [{"kind": one.kind, "key": one.key, "comment": one.comment} for one in found]
