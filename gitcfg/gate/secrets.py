"""Secrets before a push: their conditions count until the push is accepted.

This includes encrypted files in git's history: `secret rekey` leaves one there whose content is still in use,
and restoring it under any name restores the content.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from gitcfg.check.nodes import chosen
from gitcfg.check.results import Checked, checked
from gitcfg.check.secrets import FOLDER, Ground, header_of, path_of, refused
from gitcfg.compile.impact import find_nodes_using
from gitcfg.gate.changes import describe_condition
from gitcfg.gate.rulings import CommitFindings
from gitcfg.git.history import FolderHistory, FolderVersion
from gitcfg.git.repository import Repository
from gitcfg.git.tree import EntryKind, Tree, changed_paths
from gitcfg.library import Fleet
from gitcfg.load.repository import load
from gitcfg.model import Finding, Ref, Secret
from gitcfg.model.age import header
from gitcfg.model.names import shown

_YAML, _AGE = ".yaml", ".age"


class LastPlace(msgspec.Struct, frozen=True):
    """Where an encrypted file was last in the history of `tip`: beside `place`.yaml, at `commit` and before.

    Without a commit, the secret has been there in every later commit.
    """

    place: str
    commit: str | None
    tip: str

    @property
    def name(self) -> str:
        """The secret that the file belonged to."""
        return self.place.rpartition("/")[2]


class FileHistory:
    """All encrypted files up to some commits. For a file in the history of several, the first one counts."""

    def __init__(self, repository: Repository, tips: tuple[str, ...]) -> None:
        self._repository = repository
        self._tips = tips

    def secrets_of(self, identity: str) -> tuple[Secret, ...]:
        """Return the secrets that had an encrypted file last, as they were defined.

        A secret that has existed ever since counts with its current definition: a `for` that was widened
        covers earlier content, too. One that was removed in the meantime counts with its definition then; a
        secret that now has its name may be another one, and counts in addition.
        """
        places = self._places.get(identity, ())
        ends = ((commit, place.name) for place in places for commit in (place.commit, place.tip))
        found = (load(self._repository.at(commit)).secrets.get(name) for commit, name in ends if commit)
        return tuple(secret for secret in found if secret is not None)

    @cached_property
    def _places(self) -> Mapping[str, list[LastPlace]]:
        """Places by identity. 10,000 commits take 0.25 s of CPU if 100 touch secrets, 1.6 s if 5,000 do."""
        found: dict[str, list[LastPlace]] = {}
        past, known = FolderHistory(self._repository, FOLDER), dict[bytes, str]()
        for number, tip in enumerate(self._tips):
            history = _TipHistory(past, known, tip)
            # Ancestors of the first tip are known already: a hundred branches of it take no longer.
            for version in past.versions(tip, self._tips[0] if number else None):
                new: dict[str, list[LastPlace]] = {}
                for identity, place in history.places(version):
                    if identity not in found:
                        new.setdefault(identity, []).append(place)
                found |= new
        return found


class _TipHistory:
    """What is known of the history of a tip, whose versions are read newest first."""

    def __init__(self, past: FolderHistory, known: dict[bytes, str], tip: str) -> None:
        self._past = past
        self._known = known
        self._tip = tip
        self._ever: set[str] | None = None

    def places(self, version: FolderVersion) -> Iterator[tuple[str, LastPlace]]:
        """Yield the identities of the encrypted files in which a version differs from the following one."""
        ends = ((changed.path.rpartition(".")[0], changed.path) for changed in version.changed)
        touched = {place: None for place, path in ends if path in (f"{place}{_YAML}", f"{place}{_AGE}")}
        defined = {place for place in touched if self._past.file(version, f"{place}{_YAML}") is not None}
        self._ever = defined if self._ever is None else self._ever - (touched.keys() - defined)
        for place in touched:
            file = self._past.file(version, f"{place}{_AGE}") if place in defined else None
            identity = self._identity(file) if file is not None else ""
            if identity:
                yield identity, LastPlace(place, None if place in self._ever else version.commit, self._tip)

    def _identity(self, file: bytes) -> str:
        if file not in self._known:
            try:
                self._known[file] = header(self._past.read(file)).identity
            except ValueError:
                self._known[file] = ""
        return self._known[file]


_GROUND = Ground(
    "which these nodes could not have before this push",
    "whose `for` before this push fails",
    "Push the new `for` first. When it is accepted, push what binds the secret.",
)


class EarlierSecret(msgspec.Struct, frozen=True):
    """A secret that had an encrypted file before; `former`: only in history, not where the push begins."""

    secret: Secret
    former: bool


class SecretsBefore:
    """The secrets before a push, and in all its history."""

    def __init__(self, repository: Repository, commit: str, others: Iterable[str] = ()) -> None:
        """Begin at a commit; `others` are further commits whose history may have encrypted files."""
        self._repository = repository
        self._tree = repository.at(commit)
        self._tips = (commit, *others)

    @cached_property
    def secrets(self) -> Mapping[str, Secret]:
        """The secrets by name."""
        return load(self._tree).secrets

    def changed(self, now: Tree) -> frozenset[str]:
        """Return the names of secrets of which any file changed."""
        paths = changed_paths(self._tree, now, (FOLDER,))
        return frozenset(path.rpartition("/")[2].rpartition(".")[0] for path in paths)

    def conditions(self, now: Tree, secret: Secret) -> tuple[tuple[Ref, Ground], ...]:
        """Return the other conditions under which the content of a secret could go to a node, each once."""
        own = [EarlierSecret(self.secrets[secret.name], False)] if secret.name in self.secrets else []
        found: dict[str, tuple[Ref, Ground]] = {}
        for one in (*own, *self.holders(now, secret)):
            where = one.secret.where
            if where is not None and (secret.where is None or where.name != secret.where.name):
                found.setdefault(where.name, (where, _find_ground(secret, one)))
        return tuple(found.values())

    def holders(self, now: Tree, secret: Secret) -> Sequence[EarlierSecret]:
        """Return the secrets that had the encrypted file of this one where this one did not.

        The history is read only for new files: otherwise every push of secrets would wait for it.
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
    """Return GC308 for nodes that get a secret that was kept from them, by name or by a copied file."""
    secrets = new.model.secrets  # for unchanged ones the ordinary checks are enough
    touched = (name for name in sorted(before.changed(new.tree)) if name in secrets)
    conditions = {name: before.conditions(new.tree, secrets[name]) for name in touched}
    names = [name for name, found in conditions.items() if found]
    if not names:
        return ()
    nodes = find_nodes_using([f"{FOLDER}/{name}.yaml" for name in names], (new.version,))
    fleet = (new if nodes is None else new.only(nodes)).compiled
    findings: list[Finding] = []
    for name in names:
        kinds = [kind for kind in fleet.classes if name in kind.secrets.values()]
        for where, ground in conditions[name]:
            selection = chosen(fleet, where, kinds)
            for kind in kinds:
                findings += refused(secrets[name], where, kind, selection, ground)
    return tuple(findings)


def check_withheld_at(before: SecretsBefore, new: Fleet) -> CommitFindings:
    """Return the same for a commit before the pushed one: nodes may be held there."""
    found = check_withheld(before, new)
    sizes = checked(new.model, len(new), ()) if found else Checked((), 0, 0, 0, 0)
    return CommitFindings(new.commit or "", new.tree, sizes, ()).plus(found)


def _find_ground(secret: Secret, earlier: EarlierSecret) -> Ground:
    """Return the ground for the finding.

    A widened `for` permits a secret's content, but not that in history.
    """
    if not earlier.former:
        return _GROUND
    whose = earlier.secret.name
    had = f"whose encrypted file {'it' if whose == secret.name else shown(whose)} had before"
    hint = (
        f"Run `gitcfg secret set {secret.name}` to give it new content. A reader of the secret can also "
        f"encrypt the same content again: `gitcfg secret rekey {secret.name}`."
    )
    return Ground(f"{had}, and which these nodes could not have", f"{had}, with a `for` that fails", hint)


def _find_identity(tree: Tree, secret: Secret) -> str:
    """Return what copies of an encrypted file have in common, or "" if there is no readable file."""
    entry = tree.entry(path_of(secret))
    try:
        return header_of(tree, entry).identity if entry and entry.kind is EntryKind.FILE else ""
    except ValueError:
        return ""  # GC210 reports it


def describe_copies(before: SecretsBefore, new: Fleet) -> tuple[str, ...]:
    """Return a line for each secret whose encrypted file had another owner before the push, itself included.

    What is bound later is judged by the secret's definition from now on.
    """
    secrets = new.model.secrets
    touched = sorted(name for name in before.changed(new.tree) if name in secrets)
    return tuple(line for name in touched for line in _describe_copy(before, new, secrets[name]))


def _describe_copy(before: SecretsBefore, new: Fleet, secret: Secret) -> Iterator[str]:
    holders: dict[str, dict[str, bool]] = {}
    for one in before.holders(new.tree, secret):
        holders.setdefault(one.secret.name, {})[describe_condition(one.secret)] = one.former
    for name, conditions in sorted(holders.items()):
        begins = f"secret {secret.name}: its encrypted file is one that"
        if name != secret.name:
            yield f"{begins} {name} had, for {' and for '.join(conditions)}"
        elif any(conditions.values()):
            yield f"{begins} it had before"
