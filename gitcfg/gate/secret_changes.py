"""What changes between two versions of who may have secrets, and of who can decrypt them."""

from collections.abc import Sequence

import msgspec

from gitcfg.check.secrets import FOLDER, path_of
from gitcfg.comparison.change import Kind
from gitcfg.git.tree import Tree, changed_paths
from gitcfg.library import Fleet
from gitcfg.model import Secret
from gitcfg.model.age import Recipient, recipient


class SecretChange(msgspec.Struct, frozen=True):
    """A secret that came, went, is for others than before, or whose encrypted file or version is another.

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
        """The version before and the one now, of one that was there before and is still."""
        return (self.old.version, self.new.version) if self.old is not None and self.new is not None else None

    @property
    def renewed(self) -> bool:
        """Is its encrypted file or its version another one than before?"""
        return self.resealed or (self.versions is not None and self.versions[0] != self.versions[1])

    @property
    def moved(self) -> bool:
        """Is its condition another one?"""
        return condition(self.old) != condition(self.new)


def find_secret_changes(old: Fleet, new: Fleet) -> tuple[SecretChange, ...]:
    """All of them, in order of name."""
    paths = changed_paths(old.tree, new.tree, (FOLDER,))
    names = sorted({path.rpartition("/")[2].rpartition(".")[0] for path in paths})
    before, after = (fleet.model.secrets if names else {} for fleet in (old, new))
    found = (_change(name, before.get(name), after.get(name), _is_resealed(old, new, name)) for name in names)
    return tuple(_with_nodes(old, new, each) for each in found if each is not None)


def _is_resealed(old: Fleet, new: Fleet, name: str) -> bool:
    """Was a secret there before and is it still, with other bytes? Who has a key can keep a file's header."""
    before, after = old.model.secrets.get(name), new.model.secrets.get(name)
    if before is None or after is None:
        return False
    there = _file(new.tree, after)
    return there is not None and there != _file(old.tree, before)


def _file(tree: Tree, secret: Secret) -> str | None:
    """What a secret's encrypted file is, None if there is none."""
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
    """The same with the nodes that may have it and could not before, and the other way."""
    if change.kind is not Kind.CHANGED or not change.moved:
        return change
    could, can = _nodes_of(old, change.old), _nodes_of(new, change.new)
    return msgspec.structs.replace(change, more=sorted(can - could), fewer=sorted(could - can))


def _nodes_of(fleet: Fleet, secret: Secret | None) -> frozenset[str]:
    where = secret.where if secret is not None else None
    return fleet.compiled.select(where.name).names if where is not None else frozenset()


def condition(secret: Secret | None) -> str | None:
    """Which nodes may have it; None: none may."""
    return secret.where.name if secret is not None and secret.where is not None else None


def _recipients(secret: Secret | None) -> dict[str, Recipient]:
    """The keys that can decrypt a secret; of what is none another finding tells (GC210)."""
    found: dict[str, Recipient] = {}
    for ref in secret.recipients if secret is not None else ():
        try:
            one = recipient(ref.name)
        except ValueError:
            continue
        found[one.key] = one
    return found
