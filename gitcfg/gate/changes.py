"""Describe what a push changes besides nodes: the gate's settings, secrets and readers, nodes' keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.check.secrets import FOLDER, path_of
from gitcfg.comparison.change import Kind
from gitcfg.gate.policy import load_signers
from gitcfg.git.signatures import signer_lines
from gitcfg.git.tree import Tree, changed_paths
from gitcfg.git.tree import fingerprint as tree_fingerprint
from gitcfg.library import Fleet
from gitcfg.load.keys import FOLDER as KEYS
from gitcfg.load.keys import fingerprint
from gitcfg.load.loader import Loader
from gitcfg.load.repository import FILE, load_settings
from gitcfg.model import Ignore, Key, Origin, Secret, Settings
from gitcfg.model.age import X25519, Recipient, recipient
from gitcfg.model.names import SIGNERS, selects, shown
from gitcfg.model.text import counted
from gitcfg.nodeset import abridged, fold

_SETTINGS = ("protected", "check", "ratchet", "signatures")
_KEY = 20  # characters of a key: enough to distinguish it from others


def describe_settings_changes(old: Tree, new: Tree, head: str) -> Iterator[str]:
    """Yield a line for each setting of the gate that changes; `head` is protected in any case."""
    before, after = _load_settings(old), _load_settings(new)
    for name in _SETTINGS:
        was, is_ = getattr(before, name), getattr(after, name)
        if was != is_:
            yield f"{FILE}: {name}: {_describe_value(was)} -> {_describe_value(is_)}"
    if head and selects(before.protected, head) and not selects(after.protected, head):
        yield f"{head} stays protected: only `git config gitcfg.protected` on the server can change that"
    for sign, here, there in (("+", after.ignore, before.ignore), ("-", before.ignore, after.ignore)):
        known = set(map(_describe_ignore, there))
        entries = (entry for entry in map(_describe_ignore, here) if entry not in known)
        yield from (f"{FILE}: ignore: {sign} {entry}" for entry in entries)
    were, are = signer_lines(load_signers(old)), signer_lines(load_signers(new))
    if were != are:
        yield f"{SIGNERS}: +{len(are - were)} -{len(were - are)} lines"
    if after.signatures == "require" and not are and (were or before.signatures != "require"):
        yield f"{SIGNERS}: it names no signers, so protected refs reject all pushes from now on"


def _load_settings(tree: Tree) -> Settings:
    return load_settings(Loader(tree)) or Settings(Origin(FILE))


def _describe_ignore(entry: Ignore) -> str:
    subject = f" of {entry.subject}" if entry.subject is not None else ""
    until = f", until {entry.until}" if entry.until is not None else ""
    return f"{entry.code}{subject}: {entry.reason}{until}"


def _describe_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


# Secrets


class SecretChange(msgspec.Struct, frozen=True):
    """A secret that was added, removed, or changed in its condition, recipients, encrypted file or version.

    `came` and `went` are keys that can decrypt it. `more` and `fewer` are nodes that may have it, if its
    condition has changed. `resealed`: its encrypted file has changed; whether its content has changed cannot
    be known without a key.
    """

    name: str
    kind: Kind
    old: Secret | None = None
    new: Secret | None = None
    came: Sequence[Recipient] = ()
    went: Sequence[Recipient] = ()
    more: Sequence[str] = ()
    fewer: Sequence[str] = ()
    resealed: bool = False

    @property
    def versions(self) -> tuple[int, int] | None:
        """The versions before and now, of a secret that is on both sides."""
        return (self.old.version, self.new.version) if self.old is not None and self.new is not None else None

    @property
    def renewed(self) -> bool:
        """Whether its encrypted file or its version changed."""
        return self.resealed or (self.versions is not None and self.versions[0] != self.versions[1])

    @property
    def moved(self) -> bool:
        """Whether its condition changed."""
        return condition(self.old) != condition(self.new)


def find_secret_changes(old: Fleet, new: Fleet) -> tuple[SecretChange, ...]:
    """Return the secrets that changed, in order of name."""
    paths = changed_paths(old.tree, new.tree, (FOLDER,))
    names = sorted({path.rpartition("/")[2].rpartition(".")[0] for path in paths})
    before, after = (fleet.model.secrets if names else {} for fleet in (old, new))
    found = []
    for name in names:
        was, is_ = before.get(name), after.get(name)
        change = _find_change(name, was, is_, _is_resealed(old.tree, new.tree, was, is_))
        if change is not None and change.kind is Kind.CHANGED and change.moved:
            could, can = _nodes_of(old, was), _nodes_of(new, is_)
            change = msgspec.structs.replace(change, more=sorted(can - could), fewer=sorted(could - can))
        if change is not None:
            found.append(change)
    return tuple(found)


def _is_resealed(old: Tree, new: Tree, before: Secret | None, after: Secret | None) -> bool:
    """Return whether the encrypted file's bytes changed.

    The header is not enough: with the file's key, other content can be put behind the same header.
    """
    if before is None or after is None:
        return False
    was, is_ = old.entry(path_of(before)), new.entry(path_of(after))
    return is_ is not None and (was is None or is_.id != was.id)


def _find_change(name: str, old: Secret | None, new: Secret | None, resealed: bool) -> SecretChange | None:
    kind = Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED
    had, has = _recipients(old), _recipients(new)
    came = tuple(one for key, one in has.items() if key not in had)
    went = tuple(one for key, one in had.items() if key not in has)
    change = SecretChange(name, kind, old, new, came, went, resealed=resealed)
    is_one = change.moved or came or went or change.renewed if kind is Kind.CHANGED else old or new
    return change if is_one else None


def _nodes_of(fleet: Fleet, secret: Secret | None) -> frozenset[str]:
    where = secret.where if secret is not None else None
    return fleet.compiled.select(where.name).names if where is not None else frozenset()


def condition(secret: Secret | None) -> str | None:
    """Return the condition for nodes that may have a secret; None: no node may."""
    return secret.where.name if secret is not None and secret.where is not None else None


def _recipients(secret: Secret | None) -> dict[str, Recipient]:
    """Return the keys that can decrypt a secret; invalid ones have a finding of their own (GC210)."""
    found: dict[str, Recipient] = {}
    for ref in secret.recipients if secret is not None else ():
        try:
            one = recipient(ref.name)
        except ValueError:
            continue
        found[one.key] = one
    return found


def describe_secret_changes(changes: Iterable[SecretChange]) -> tuple[str, ...]:
    """Return lines that describe changes of secrets."""
    lines: list[str] = []
    for change in changes:
        begins = f"secret {change.name}:"
        if change.kind is Kind.ADDED:
            keys = ", ".join(map(_describe_recipient, change.came)) or "no one"
            lines.append(f"{begins} new, for {describe_condition(change.new)}, read by {keys}")
        elif change.kind is Kind.REMOVED:
            lines.append(f"{begins} removed")
        else:
            lines += (f"{begins} {line}" for line in _describe_changed(change))
    return tuple(lines)


def _describe_changed(change: SecretChange) -> Iterator[str]:
    if change.moved:
        yield f"for {describe_condition(change.old)} -> {describe_condition(change.new)}"
    for nodes, since in ((change.more, "now"), (change.fewer, "no longer")):
        if nodes:
            yield f"{counted(len(nodes), 'node')} may {since} have it: {abridged(nodes)}"
    signs = [f"+{_describe_recipient(one)}" for one in change.came]
    signs += [f"-{_describe_recipient(one)}" for one in change.went]
    if signs:
        yield f"recipients {' '.join(signs)}"
    if change.renewed and change.versions is not None:
        yield _describe_content(change, *change.versions)


def _describe_content(change: SecretChange, old: int, new: int) -> str:
    """Return what is known of the content without a key. A version that does not increase is always wrong."""
    if new == old:
        doubt = "other recipients or other content: only a reader of the secret can see which"
        return f"another encrypted file with the same version {new} ({doubt})"
    if new < old:
        doubt = "nodes cannot distinguish it from an earlier one"
        hint = f"`gitcfg secret set {change.name}` raises the version"
        return f"version {old} -> {new}, which is lower: {doubt}; {hint}"
    if not change.resealed:
        return f"version {old} -> {new}, but its encrypted file is the same, and so is its content"
    return f"version {old} -> {new}, another encrypted file"


def describe_condition(secret: Secret | None) -> str:
    """Return in words which nodes may have a secret."""
    return shown(condition(secret) or "no node", 200)


def _describe_recipient(one: Recipient) -> str:
    brief = one.key[:_KEY] if one.kind == X25519 else f"{one.kind} ...{one.key[-_KEY:]}"
    return shown(f"{brief} ({one.comment})" if one.comment else brief, 100)


def secret_change_to_json(change: SecretChange) -> dict[str, Any]:
    """Return the record of a change in `gitcfg.diff/1`."""
    record: dict[str, Any] = {"kind": change.kind, "name": change.name}
    if change.moved:
        record["for"] = {"old": condition(change.old), "new": condition(change.new)}
    if change.more or change.fewer:
        record["may"] = {"added": fold(change.more), "removed": fold(change.fewer)}
    if change.came or change.went:
        record["recipients"] = {
            side: [{"kind": one.kind, "key": one.key, "comment": one.comment} for one in keys]
            for side, keys in (("added", change.came), ("removed", change.went))
        }
    if change.renewed and change.versions is not None:
        old, new = change.versions
        record["content"] = {"old": old, "new": new, "resealed": change.resealed}
    return record


# Keys of nodes: the holder of a node's key gets its configuration and its secrets.

_FEW = 5  # each key is shown for up to this number of nodes
_Sort = tuple[str, tuple[str, ...]]
"""How keys changed, and the secrets that their nodes get."""


def describe_key_changes(old: Fleet, new: Fleet) -> tuple[str, ...]:
    """Return lines for changed keys, one for many similar changes; nodes that get secrets come first."""
    if tree_fingerprint(old.tree, (KEYS,)) == tree_fingerprint(new.tree, (KEYS,)):
        return ()
    before, after = old.model.keys, new.model.keys
    were, are = ({name: key.text for name, key in keys.items()} for keys in (before, after))
    names = [name for name in were.keys() | are.keys() if were.get(name, "") != are.get(name, "")]
    got = _secrets_of_nodes(new, [name for name in names if name in after])
    alike: dict[_Sort, list[str]] = {}
    for name in sorted(names):
        became = "new" if name not in before else "removed" if name not in after else "changed"
        alike.setdefault((became, got.get(name, ())), []).append(name)
    sorts = sorted(alike.items(), key=lambda item: (not item[0][1], item))
    return tuple(line for sort, nodes in sorts for line in _describe_keys(sort, nodes, before, after))


def _describe_keys(
    sort: _Sort, nodes: list[str], before: Mapping[str, Key], after: Mapping[str, Key]
) -> Iterator[str]:
    became, secrets = sort
    which = (
        f"; {'the node gets' if len(nodes) <= _FEW else 'the nodes get'} {', '.join(secrets)}"
        if secrets
        else ""
    )
    if len(nodes) > _FEW:
        yield f"keys of {counted(len(nodes), 'node')} {became}: {abridged(nodes)}{which}"
        return
    for name in nodes:
        keys = " -> ".join(fingerprint(side[name].text) for side in (before, after) if name in side)
        yield f"key of {name} {became}: {keys}{which}"


def _secrets_of_nodes(fleet: Fleet, names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the secrets that nodes get, by node."""
    there = [name for name in names if name in fleet]
    if not there or not fleet.model.secrets:
        return {}
    compiled = fleet.only(there).compiled
    return {name: tuple(sorted({*compiled[name].secrets.values()})) for name in there}
