"""Secrets edited: their recipients, versions and content, and their versions in git's history.

Nodes recognize a changed secret by its version alone. So new content gets a version above the highest one in
history: otherwise a version could return that some nodes have with other content.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from gitcfg.edit.draft import Draft, sealed_path
from gitcfg.edit.yaml.changes import Change, Delete, Insert, Set
from gitcfg.edit.yaml.tree import Raw, quote, quote_like, to_yaml
from gitcfg.git.history import FolderHistory
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError, Ref, Secret
from gitcfg.model.age import Recipient, recipient
from gitcfg.model.names import NAME, did_you_mean, shown


def parse_recipients(secret: Secret) -> tuple[Recipient, ...]:
    """Parse the recipients of a secret, in order. Raise GitcfgError if its file is invalid."""
    if secret.where is None:
        raise GitcfgError(f"{secret.origin.file} has errors.", "Run `gitcfg check`.")
    return tuple({one.key: one for one in map(_parse_recipient, secret.recipients)}.values())


def find_recipients(among: Iterable[Recipient], word: str) -> tuple[Recipient, ...]:
    """Return the recipients that a word means: the one with that key, or those with that comment."""
    try:
        key = recipient(word).key
    except ValueError:
        return tuple(one for one in among if one.comment == word.strip())
    return tuple(one for one in among if one.key == key)


def _parse_recipient(ref: Ref) -> Recipient:
    try:
        return recipient(ref.name)
    except ValueError as problem:
        raise GitcfgError(f"{ref.origin}: The recipient is not a key: {problem}.", "Fix it first.") from None


# Secrets edited: the definition in secrets/NAME.yaml, and the encrypted content in secrets/NAME.age.

_FOLDER = "secrets"
_KEYS = ("description", "for", "version", "recipients")


class SecretOptions(msgspec.Struct, frozen=True):
    """The options for a secret besides its content; None: unchanged. `place`: the folder of a new one.

    `last` is the highest version that a secret of this name ever had.
    """

    where: str | None = None
    description: str | None = None
    recipients: tuple[Recipient, ...] | None = None
    place: str = ""
    last: int = 0


class SecretPlan(msgspec.Struct, frozen=True):
    """What will be written for a secret: its file, version, and recipients before and after."""

    name: str
    file: str
    version: int
    before: tuple[Recipient, ...]
    after: tuple[Recipient, ...]

    @property
    def sealed(self) -> str:
        """The path of its content."""
        return sealed_path(self.file)

    @property
    def gone(self) -> tuple[Recipient, ...]:
        """The recipients that are removed."""
        remaining = {one.key for one in self.after}
        return tuple(one for one in self.before if one.key not in remaining)


def plan_secret(draft: Draft, name: str, options: SecretOptions) -> SecretPlan:
    """Return the plan for new content of a secret, old or new. Raise GitcfgError if it is impossible."""
    old = draft.model.secrets.get(name)
    if old is None:
        return _plan_new(draft, name, options)
    before = parse_recipients(old)
    after = before if options.recipients is None else options.recipients
    if not after:
        raise _unread(name)
    return SecretPlan(name, old.origin.file, max(old.version, options.last) + 1, before, after)


def _plan_new(draft: Draft, name: str, options: SecretOptions) -> SecretPlan:
    if not NAME.fullmatch(name):
        raise GitcfgError(
            f"{shown(name)} is not a valid name for a secret.", "Use letters, digits and _ . + @ -"
        )
    lone = next((e.path for e in draft.tree.entries(_FOLDER) if e.path.endswith(f"/{name}.age")), None)
    if lone is not None:
        beside = f"{lone.removesuffix('.age')}.yaml"
        hint = f"Restore {beside} (`git checkout HEAD -- {beside}`) or delete {lone}, then try again."
        raise GitcfgError(f"{lone} exists without {beside}.", hint, code=REFUSED)
    if options.where is None:
        raise GitcfgError(f"The selection of nodes that may have {name} is missing.", "Use `--for CEL`.")
    if not options.recipients:
        raise _unread(name)
    folder = options.place.strip("/") or _FOLDER
    if folder != _FOLDER and not folder.startswith(f"{_FOLDER}/"):
        raise GitcfgError(f"{shown(folder)} is not a folder for secrets.", f"Use a folder in {_FOLDER}/.")
    return SecretPlan(name, f"{folder}/{name}.yaml", options.last + 1, (), options.recipients)


def _unread(name: str) -> GitcfgError:
    return GitcfgError(f"{shown(name)} has no recipient.", "Use `--recipient KEY`.")


def write_secret(draft: Draft, plan: SecretPlan, options: SecretOptions, sealed: str) -> None:
    """Write a secret according to a plan, with new content encrypted for `plan.after`."""
    if draft.text(plan.file) is None:
        # One recipient per line, so that two people can each add one.
        lines = [f"description: {to_yaml(options.description)}"] if options.description else []
        lines += [f"for: {_quote(options.where or '')}", f"version: {plan.version}", "recipients:"]
        lines += [f"  - {to_yaml(_line(one))}" for one in plan.after]
        draft.write(plan.file, "".join(f"{line}\n" for line in lines))
    else:
        changes: list[Change] = [Set(("version",), Raw(str(plan.version)), None, _KEYS)]
        if options.where is not None:
            changes.append(Set(("for",), options.where, _quote(options.where), _KEYS))
        if options.description is not None:
            changes.append(Set(("description",), options.description, None, _KEYS))
        draft.change(plan.file, *changes, *_recipient_changes(draft, plan))
    draft.write(plan.sealed, sealed)


def _quote(where: str) -> str:
    """Return a condition in single quotes, as it may contain double ones."""
    return quote_like("'", where) or quote(where)


def _line(one: Recipient) -> str:
    return f"{one.key} {one.comment}".strip()


def raise_version(draft: Draft, name: str, last: int) -> None:
    """Give a renamed secret a version that no node has of another secret of that name."""
    found = draft.model.secrets[name]
    if found.version <= last:
        draft.change(found.origin.file, Set(("version",), Raw(str(last + 1)), None, _KEYS))


def reseal_secret(draft: Draft, plan: SecretPlan, sealed: str) -> None:
    """Write the recipients of a plan, with the same content encrypted for them."""
    draft.change(plan.file, *_recipient_changes(draft, plan))
    draft.write(plan.sealed, sealed)


def _recipient_changes(draft: Draft, plan: SecretPlan) -> list[Change]:
    """Return the changes that set the recipients of a plan; lines of those that stay are not changed."""
    listed = draft.meaning(plan.file, "recipients")
    lines = listed if isinstance(listed, list) else []
    keys = [recipient(line).key for line in lines if isinstance(line, str)]
    after = {one.key: one for one in plan.after}
    new = [one for key, one in after.items() if key not in keys]
    added = [Insert(("recipients",), at, _line(one), None, _KEYS) for at, one in enumerate(new, len(keys))]
    removed = [Delete(("recipients", place)) for place, key in enumerate(keys) if key not in after]
    return [*added, *reversed(removed)]


# Secrets for other recipients: which secrets, and who can read them afterwards.


def choose_secrets(known: Iterable[Secret], names: Sequence[str], remove: Sequence[str]) -> list[Secret]:
    """Return the named secrets; by default those with a recipient in `remove`, or all if it is empty.

    Raise GitcfgError if there is no such secret, or if no secret has a recipient in `remove`.
    """
    by_name = {secret.name: secret for secret in known}
    for name in names:
        if name not in by_name:
            raise GitcfgError(f"There is no secret {shown(name)}.", did_you_mean(name, by_name))
    chosen = [by_name[name] for name in dict.fromkeys(names) or sorted(by_name)]
    for word in remove:
        if not any(find_recipients(parse_recipients(secret), word) for secret in chosen):
            comments = {one.comment for secret in chosen for one in parse_recipients(secret) if one.comment}
            hint = (
                did_you_mean(word, comments)
                or "Run `gitcfg secret who NAME` to list the recipients of a secret."
            )
            raise GitcfgError(f"{shown(word)} is not a recipient of any of them.", hint)
    if names or not remove:
        return chosen
    return [
        secret for secret in chosen if any(find_recipients(parse_recipients(secret), word) for word in remove)
    ]


def plan_rekey(secret: Secret, add: Iterable[Recipient], remove: Iterable[str]) -> SecretPlan:
    """Return the plan for other recipients of a secret. Raise GitcfgError if there would be none left."""
    before = parse_recipients(secret)
    going = {one.key for word in remove for one in find_recipients(before, word)}
    known = {one.key for one in before}
    after = [one for one in before if one.key not in going]
    after += [one for one in add if one.key not in known or one.key in going]
    if not after:
        hint = f"Add another recipient with `--add KEY`, or run `gitcfg delete secret {secret.name}`."
        raise GitcfgError(f"{shown(secret.name)} would have no recipient left.", hint, code=REFUSED)
    return SecretPlan(secret.name, secret.origin.file, secret.version, before, tuple(after))


# A secret in git's history: new content gets a version above the highest one that there ever was.

_FOLDER_FORMERLY = "secrets"
_VERSION = re.compile(
    r"""^(?:\ufeff?\{.*?[\s,{])?["']?version["']?\s*:\s*([1-9][0-9]{0,17})\b""", re.MULTILINE
)
"""A line of the secret's file. In a file of one line, the version is inside it."""


def find_last_version(repository: Repository, name: str) -> int:
    """Return the highest version that a secret ever had; 0: git has no version of it.

    10,000 commits take 0.2 s of CPU, where `git log -p` of the file took 1.3.
    """
    if repository.git is None or repository.git.head_is_unborn:
        return 0
    past = FolderHistory(repository, _FOLDER_FORMERLY)
    versions = past.versions(str(repository.commit("HEAD").id))
    changed = (change for version in versions for change in version.changed)
    files = {change.new for change in changed if change.path.rpartition("/")[2] == f"{name}.yaml"}
    texts = (past.read(file).decode("utf-8", "replace") for file in files if file is not None)
    return max((int(found) for text in texts for found in _VERSION.findall(text)), default=0)
