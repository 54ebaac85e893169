"""Secrets as they stood before a push: what was said of who may have them counts until it is accepted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from gitcfg.check.nodes import chosen
from gitcfg.check.results import Checked, checked
from gitcfg.check.secrets import FOLDER, Ground, header_of, path_of, refused
from gitcfg.compile import fleet as compiled
from gitcfg.compile.concerned import concerned_by
from gitcfg.gate.former import FileHistory
from gitcfg.gate.ruling import CommitFindings
from gitcfg.git.repository import Repository
from gitcfg.git.tree import EntryKind, Tree, changed_paths
from gitcfg.library import Fleet
from gitcfg.load.repository import load
from gitcfg.model import Finding, Ref, Secret
from gitcfg.model.names import shown

_GROUND = Ground(
    "which could not go there before this push",
    "whose `for`, as it was before this push, fails",
    "Push the new `for` first; what binds the secret may follow when that is accepted.",
)


class EarlierSecret(msgspec.Struct, frozen=True):
    """A secret that had an encrypted file before; `former`: in the history, and not where the push begins."""

    secret: Secret
    former: bool


class SecretsBefore:
    """The secrets as they were before a push, and as they ever were."""

    def __init__(self, repository: Repository, commit: str, others: Iterable[str] = ()) -> None:
        """`others` are commits in whose history encrypted files are, too, that could come from there."""
        self._repository = repository
        self._tree = repository.at(commit)
        self._tips = (commit, *others)

    @cached_property
    def secrets(self) -> Mapping[str, Secret]:
        """By name."""
        return load(self._tree).secrets

    def changed(self, now: Tree) -> frozenset[str]:
        """The names of those of which anything is not as it was."""
        paths = changed_paths(self._tree, now, (FOLDER,))
        return frozenset(path.rpartition("/")[2].rpartition(".")[0] for path in paths)

    def conditions(self, now: Tree, secret: Secret) -> tuple[tuple[Ref, Ground], ...]:
        """The other conditions under which what a secret holds could go to a node, each once."""
        own = [EarlierSecret(self.secrets[secret.name], False)] if secret.name in self.secrets else []
        said: dict[str, tuple[Ref, Ground]] = {}
        for one in (*own, *self.holders(now, secret)):
            where = one.secret.where
            if where is not None and (secret.where is None or where.name != secret.where.name):
                said.setdefault(where.name, (where, _find_ground(secret, one)))
        return tuple(said.values())

    def holders(self, now: Tree, secret: Secret) -> Sequence[EarlierSecret]:
        """Those that had the encrypted file of this one, where it did not.

        The history is asked only for what is new: else all pushes of secrets would wait for it.
        """
        entry, before = (tree.entry(path_of(secret)) for tree in (now, self._tree))
        if entry is None or (before is not None and before.id == entry.id):
            return ()
        identity = _find_identity(now, secret)
        if identity in self._by_content or not identity:
            return [EarlierSecret(one, False) for one in self._by_content.get(identity, ())]
        return [EarlierSecret(one, True) for one in self._former.secrets_of(identity)]

    @cached_property
    def _by_content(self) -> Mapping[str, Sequence[Secret]]:
        found: dict[str, list[Secret]] = {}
        for secret in self.secrets.values():
            found.setdefault(_find_identity(self._tree, secret), []).append(secret)
        found.pop("", None)
        return found

    @cached_property
    def _former(self) -> FileHistory:
        return FileHistory(self._repository, self._tips)


def check_withheld(before: SecretsBefore, new: Fleet) -> tuple[Finding, ...]:
    """GC308 of nodes that get what was kept from them before: under its name, or as a copy of its file."""
    secrets = new.model.secrets  # of those that are as they were what every check says is enough
    touched = (name for name in sorted(before.changed(new.tree)) if name in secrets)
    said = {name: before.conditions(new.tree, secrets[name]) for name in touched}
    asked = {name: conditions for name, conditions in said.items() if conditions}
    if not asked:
        return ()
    names = find_nodes_made_from([f"{FOLDER}/{name}.yaml" for name in asked], (new.version,))
    fleet = (new if names is None else new.only(names)).compiled
    return tuple(
        finding
        for name, conditions in asked.items()
        for where, ground in conditions
        for finding in _check_condition(fleet, secrets[name], where, ground)
    )


def check_withheld_at(before: SecretsBefore, new: Fleet) -> CommitFindings:
    """The same of a commit on the way to a pushed one: nodes may be held there."""
    found = check_withheld(before, new)
    said = checked(new.model, len(new), ()) if found else Checked((), 0, 0, 0, 0)
    return CommitFindings(new.commit or "", new.tree, said, ()).plus(found)


def _check_condition(fleet: compiled.Fleet, secret: Secret, where: Ref, ground: Ground) -> Iterator[Finding]:
    kinds = [kind for kind in fleet.classes if secret.name in kind.secrets.values()]
    selection = chosen(fleet, where, kinds)
    for kind in kinds:
        yield from refused(secret, where, kind, selection, ground)


def _find_ground(secret: Secret, earlier: EarlierSecret) -> Ground:
    """Widening a `for` lets go what a secret holds, and not what somebody takes from the history."""
    if not earlier.former:
        return _GROUND
    whose = earlier.secret.name
    had = f"whose encrypted file {'it' if whose == secret.name else shown(whose)} had before"
    hint = (
        f"`gitcfg secret set {secret.name}` gives it a content of its own; who can read it may seal the same "
        f"anew: `gitcfg secret rekey {secret.name}`."
    )
    return Ground(f"{had}, and which could not go there", f"{had}, with a `for` that fails", hint)


def _find_identity(tree: Tree, secret: Secret) -> str:
    """What copies of an encrypted file have in common; nothing where there is none."""
    entry = tree.entry(path_of(secret))
    try:
        return header_of(tree, entry).identity if entry and entry.kind is EntryKind.FILE else ""
    except ValueError:
        return ""  # that is told of it (GC210)
