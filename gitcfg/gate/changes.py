"""Describe what a push changes beside nodes: the gate's settings, secrets and their readers, keys of
nodes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.check.secrets import FOLDER, path_of
from gitcfg.comparison.change import Kind
from gitcfg.gate.policy import load_signers
from gitcfg.git.signatures import signer_lines
from gitcfg.git.tree import Tree, changed_paths
from gitcfg.git.tree import fingerprint as content
from gitcfg.library import Fleet
from gitcfg.load.keys import FOLDER as FOLDER_keys
from gitcfg.load.keys import fingerprint
from gitcfg.load.loader import Loader
from gitcfg.load.repository import FILE, load_settings
from gitcfg.model import Ignore, Key, Origin, Secret, Settings
from gitcfg.model.age import X25519, Recipient, recipient
from gitcfg.model.names import SIGNERS, selects, shown
from gitcfg.model.text import counted
from gitcfg.nodeset import abridged, fold

_SETTINGS = ("protected", "check", "ratchet", "signatures")


def describe_settings_changes(old: Tree | None, new: Tree, head: str = "") -> tuple[str, ...]:
    """Return a line for each setting of the gate that changes; none for a first push.

    `head` is protected whatever gitcfg.yaml says.
    """
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
    return load_settings(Loader(tree)) or Settings(Origin(FILE))


def _describe_ignore(said: Ignore) -> str:
    until = f", until {said.until}" if said.until is not None else ""
    return f"{said.code}{f' of {said.subject}' if said.subject is not None else ''}: {said.reason}{until}"


def _describe_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


# Secrets


class SecretChange(msgspec.Struct, frozen=True):
    """A secret that was added, removed, or changed in its condition, recipients, encrypted file or version.

    `came` and `went` are keys that can decrypt it, and `more` and `fewer` nodes that may have it, where its
    condition was one before and is another now. `resealed`: its encrypted file is another one, and without a
    key nobody can tell whether its content is.
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
    found = (_change(name, before.get(name), after.get(name), _is_resealed(old, new, name)) for name in names)
    return tuple(_with_nodes(old, new, each) for each in found if each is not None)


def _is_resealed(old: Fleet, new: Fleet, name: str) -> bool:
    """Return whether the encrypted file's bytes changed. With a key a file can be changed behind the same
    header.
    """
    before, after = old.model.secrets.get(name), new.model.secrets.get(name)
    if before is None or after is None:
        return False
    there = _file(new.tree, after)
    return there is not None and there != _file(old.tree, before)


def _file(tree: Tree, secret: Secret) -> str | None:
    """Return the id of a secret's encrypted file, or None if there is none."""
    entry = tree.entry(path_of(secret))
    return entry.id if entry is not None else None


def _change(name: str, old: Secret | None, new: Secret | None, resealed: bool) -> SecretChange | None:
    kind = Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED
    had, has = _recipients(old), _recipients(new)
    came = tuple(one for key, one in has.items() if key not in had)
    went = tuple(one for key, one in had.items() if key not in has)
    change = SecretChange(name, kind, old, new, came, went, resealed=resealed)
    is_one = change.moved or came or went or change.renewed if kind is Kind.CHANGED else old or new
    return change if is_one else None


def _with_nodes(old: Fleet, new: Fleet, change: SecretChange) -> SecretChange:
    """Return the change with the nodes that may have the secret now and could not before, and the reverse."""
    if change.kind is not Kind.CHANGED or not change.moved:
        return change
    could, can = _nodes_of(old, change.old), _nodes_of(new, change.new)
    return msgspec.structs.replace(change, more=sorted(can - could), fewer=sorted(could - can))


def _nodes_of(fleet: Fleet, secret: Secret | None) -> frozenset[str]:
    where = secret.where if secret is not None else None
    return fleet.compiled.select(where.name).names if where is not None else frozenset()


def condition(secret: Secret | None) -> str | None:
    """Return the condition of a secret: which nodes may have it; None: none may."""
    return secret.where.name if secret is not None and secret.where is not None else None


def _recipients(secret: Secret | None) -> dict[str, Recipient]:
    """Return the keys that can decrypt a secret; broken ones are another finding's (GC210)."""
    found: dict[str, Recipient] = {}
    for ref in secret.recipients if secret is not None else ():
        try:
            one = recipient(ref.name)
        except ValueError:
            continue
        found[one.key] = one
    return found


_KEY = 20  # so many letters of a key tell it from others


def describe_secret_changes(changes: Iterable[SecretChange]) -> tuple[str, ...]:
    """Return lines that describe changes of secrets."""
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
    """Return what is known of the content without a key; a version that does not rise is never right."""
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
    """Return which nodes may have a secret."""
    return shown(condition(secret) or "nobody", 200)


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
            "added": _recipients_to_json(change.came),
            "removed": _recipients_to_json(change.went),
        }
    if change.renewed and change.versions is not None:
        old, new = change.versions
        record["content"] = {"old": old, "new": new, "resealed": change.resealed}
    return record


def _recipients_to_json(found: Sequence[Recipient]) -> list[dict[str, str]]:
    return [{"kind": one.kind, "key": one.key, "comment": one.comment} for one in found]


# Keys of nodes: the holder of a node's key gets its configuration and its secrets.

_FEW = 5  # of so many nodes each key is shown
_Sort = tuple[str, tuple[str, ...]]
"""What became of keys, and the secrets that their nodes get."""


def describe_key_changes(old: Fleet, new: Fleet) -> tuple[str, ...]:
    """Return a line for each changed key, many alike in one; nodes that get secrets come first."""
    if content(old.tree, (FOLDER_keys,)) == content(new.tree, (FOLDER_keys,)):
        return ()
    before, after = old.model.keys, new.model.keys
    names = [
        name for name in before.keys() | after.keys() if _key_text(before, name) != _key_text(after, name)
    ]
    got = _secrets_of_nodes(new, [name for name in names if name in after])
    alike: dict[_Sort, list[str]] = {}
    for name in sorted(names):
        became = "new" if name not in before else "gone" if name not in after else "changed"
        alike.setdefault((became, got.get(name, ())), []).append(name)
    sorts = sorted(alike.items(), key=lambda item: (not item[0][1], item))
    return tuple(line for sort, nodes in sorts for line in _describe_keys(sort, nodes, before, after))


def _describe_keys(
    sort: _Sort, nodes: list[str], before: Mapping[str, Key], after: Mapping[str, Key]
) -> Iterator[str]:
    became, secrets = sort
    which = f", which {'gets' if len(nodes) <= _FEW else 'get'} {', '.join(secrets)}" if secrets else ""
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


def _key_text(keys: Mapping[str, Key], name: str) -> str:
    return keys[name].text if name in keys else ""
