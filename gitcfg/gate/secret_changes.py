"""What changes between two versions of who may have secrets, and of who can decrypt them."""

from collections.abc import Sequence

import msgspec

from gitcfg.check.sealed import FOLDER
from gitcfg.comparison.change import Kind
from gitcfg.git.fingerprint import changed_paths
from gitcfg.library import Fleet
from gitcfg.model import Secret
from gitcfg.model.age import Recipient, recipient


class SecretChange(msgspec.Struct, frozen=True):
    """A secret that came, went, or is for others than before.

    `came` and `went` are keys that can decrypt it, and `more` and `fewer` nodes that may have it, where its
    condition was one before and is another now.
    """

    name: str
    kind: Kind
    old: Secret | None = None
    new: Secret | None = None
    came: Sequence[Recipient] = ()
    went: Sequence[Recipient] = ()
    more: Sequence[str] = ()
    fewer: Sequence[str] = ()

    @property
    def moved(self) -> bool:
        """Is its condition another one?"""
        return condition(self.old) != condition(self.new)


def secret_changes(old: Fleet, new: Fleet) -> tuple[SecretChange, ...]:
    """All of them, in order of name."""
    paths = changed_paths(old.tree, new.tree, (FOLDER,))
    names = sorted({path.rpartition("/")[2].rpartition(".")[0] for path in paths})
    before, after = (fleet.model.secrets if names else {} for fleet in (old, new))
    found = (_change(name, before.get(name), after.get(name)) for name in names)
    return tuple(_reaching(old, new, each) for each in found if each is not None)


def _change(name: str, old: Secret | None, new: Secret | None) -> SecretChange | None:
    kind = Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED
    had, has = _keys(old), _keys(new)
    came = tuple(one for key, one in has.items() if key not in had)
    went = tuple(one for key, one in had.items() if key not in has)
    change = SecretChange(name, kind, old, new, came, went)
    is_one = change.moved or came or went if kind is Kind.CHANGED else old or new
    return change if is_one else None


def _reaching(old: Fleet, new: Fleet, change: SecretChange) -> SecretChange:
    """The same with the nodes that may have it and could not before, and the other way."""
    if change.kind is not Kind.CHANGED or not change.moved:
        return change
    could, can = _may(old, change.old), _may(new, change.new)
    return msgspec.structs.replace(change, more=sorted(can - could), fewer=sorted(could - can))


def _may(fleet: Fleet, secret: Secret | None) -> frozenset[str]:
    where = secret.where if secret is not None else None
    return fleet.compiled.select(where.name).names if where is not None else frozenset()


def condition(secret: Secret | None) -> str | None:
    """Which nodes may have it; None: none may."""
    return secret.where.name if secret is not None and secret.where is not None else None


def _keys(secret: Secret | None) -> dict[str, Recipient]:
    """The keys that can decrypt a secret; of what is none another finding tells (GC210)."""
    found: dict[str, Recipient] = {}
    for ref in secret.recipients if secret is not None else ():
        try:
            one = recipient(ref.name)
        except ValueError:
            continue
        found[one.key] = one
    return found
