"""Secrets as they stood before a push: what was said of who may have them counts until it is accepted."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from gitcfg.check.checked import Checked, checked
from gitcfg.check.confined import Ground, chosen, refused
from gitcfg.check.sealed import header_of, path_of
from gitcfg.compile import fleet as compiled
from gitcfg.compile.concerned import concerned_by
from gitcfg.gate.ruling import Seen
from gitcfg.git.fingerprint import fingerprint
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.library import Fleet
from gitcfg.model import Finding, Ref, Secret

SECRETS = "secrets"
_GROUND = Ground(
    "which could not go there before this push",
    "whose `for`, as it was before this push, fails",
    "Push the new `for` first; what binds the secret may follow when that is accepted.",
)


def same_secrets(old: Tree, new: Tree) -> bool:
    """Does the same stand in the folder of secrets?"""
    return fingerprint(old, (SECRETS,)) == fingerprint(new, (SECRETS,))


def withheld(old: Fleet, new: Fleet) -> tuple[Finding, ...]:
    """GC308 of nodes that get what was kept from them before: under its name, or as a copy of its file."""
    if same_secrets(old.tree, new.tree):
        return ()  # what every check says of it is enough
    before = _Before(old)
    said = {name: before.conditions(new.tree, secret) for name, secret in new.model.secrets.items()}
    asked = {name: conditions for name, conditions in said.items() if conditions}
    if not asked:
        return ()
    names = concerned_by([f"{SECRETS}/{name}.yaml" for name in asked], (new.version,))
    fleet = (new if names is None else new.only(names)).compiled
    return tuple(
        finding
        for name, conditions in asked.items()
        for where in conditions
        for finding in _refused(fleet, new.model.secrets[name], where)
    )


def given_away(old: Fleet, new: Fleet) -> Seen:
    """The same of a commit on the way to a pushed one: nodes may be held there."""
    found = withheld(old, new)
    said = checked(new.model, len(new), ()) if found else Checked((), 0, 0, 0, 0)
    return Seen(new.commit or "", new.tree, said, ()).plus(found)


def _refused(fleet: compiled.Fleet, secret: Secret, where: Ref) -> Iterator[Finding]:
    kinds = [kind for kind in fleet.classes if secret.name in kind.secrets.values()]
    selection = chosen(fleet, where, kinds)
    for kind in kinds:
        yield from refused(secret, where, kind, selection, _GROUND)


class _Before:
    """The secrets as they were."""

    def __init__(self, fleet: Fleet) -> None:
        self._tree = fleet.tree
        self._secrets = fleet.model.secrets

    def conditions(self, now: Tree, secret: Secret) -> tuple[Ref, ...]:
        """The other conditions under which what a secret holds could go to a node, each once."""
        same = [self._secrets[secret.name]] if secret.name in self._secrets else []
        said = {one.where.name: one.where for one in (*same, *self._copied(now, secret)) if one.where}
        return tuple(
            where for text, where in said.items() if secret.where is None or text != secret.where.name
        )

    def _copied(self, now: Tree, secret: Secret) -> Sequence[Secret]:
        """Those that had the encrypted file of this one, where it did not."""
        entry, before = (tree.entry(path_of(secret)) for tree in (now, self._tree))
        if entry is None or (before is not None and before.id == entry.id):
            return ()
        return self._by_content.get(_identity(now, secret), ())

    @cached_property
    def _by_content(self) -> Mapping[str, Sequence[Secret]]:
        found: dict[str, list[Secret]] = {}
        for secret in self._secrets.values():
            found.setdefault(_identity(self._tree, secret), []).append(secret)
        found.pop("", None)
        return found


def _identity(tree: Tree, secret: Secret) -> str:
    """What copies of an encrypted file have in common; nothing where there is none."""
    entry = tree.entry(path_of(secret))
    try:
        return header_of(tree, entry).identity if entry and entry.kind is EntryKind.FILE else ""
    except ValueError:
        return ""  # that is told of it (GC210)
