"""Snapshots: annotated tags of their own, which git itself makes, so that its settings for signing count."""

from collections.abc import Iterator

import msgspec
import pygit2

from gitcfg.git.history import History, dated
from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import did_you_mean, shown

FOLDER = "refs/tags/snapshot/"


class Snapshot(msgspec.Struct, frozen=True):
    """A commit under a name: who named it, when (ISO 8601 with offset), and what for."""

    name: str
    commit: str
    author: str
    email: str
    date: str
    message: str

    @property
    def revision(self) -> str:
        """What git's commands call it."""
        return f"snapshot/{self.name}"


class Snapshots:
    """The snapshots of a repository."""

    def __init__(self, repository: Repository) -> None:
        """GitcfgError: there is no git repository."""
        self._history = History(repository)
        self._git = self._history.git

    def all(self) -> Iterator[Snapshot]:
        """All of them, in order of name. A tag that leads to no commit is none."""
        for ref in sorted(ref for ref in self._git.references if ref.startswith(FOLDER)):
            found = self._snapshot(ref)
            if found is not None:
                yield found

    def named(self, name: str) -> Snapshot:
        """The one of a name. GitcfgError: there is none."""
        found = self._snapshot(FOLDER + name) if FOLDER + name in self._git.references else None
        if found is None:
            near = did_you_mean(name, (each.name for each in self.all()))
            hint = near or "`gitcfg snapshot list` lists them."
            raise GitcfgError(f"There is no snapshot {shown(name)}.", hint)
        return found

    def create(self, git: Git, name: str, commit: str, message: str) -> Snapshot:
        """Name a commit. GitcfgError: the name is none, or is taken (4)."""
        ref = FOLDER + name
        if git.ask("check-ref-format", ref)[0]:
            hint = "Letters, digits, `-`, `_`, `.` and `/` between parts will do."
            raise GitcfgError(f"{shown(name)!r} is no name for a snapshot.", hint)
        if ref in self._git.references:
            hint = f"`gitcfg snapshot show {shown(name)}` says what it is."
            raise GitcfgError(f"There is a snapshot {shown(name)} already.", hint, code=REFUSED)
        words = ("--annotate", "--cleanup=whitespace", "--file=-", "--", ref.removeprefix("refs/tags/"))
        git.say("tag", *words, commit, given=message.encode())
        return self.named(name)

    def delete(self, git: Git, name: str) -> str:
        """Take a name away. What it stood for: a tag's id."""
        self.named(name)
        was = str(self._git.references[FOLDER + name].target)
        git.say("update-ref", "--no-deref", "-d", FOLDER + name, was)
        return was

    def _snapshot(self, ref: str) -> Snapshot | None:
        try:
            target = self._git[self._git.references[ref].resolve().target]
            commit = target.peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            return None
        about = self._history.about(str(commit.id))
        name = ref.removeprefix(FOLDER)
        if not isinstance(target, pygit2.Tag) or target.tagger is None:  # made by other means
            return Snapshot(name, about.commit, about.author, about.email, about.date, about.subject)
        tagger = target.tagger
        who, email = (raw.decode("utf-8", "replace") for raw in (tagger.raw_name, tagger.raw_email))
        said = target.raw_message.decode("utf-8", "replace").partition("-----BEGIN ")[0].strip()
        return Snapshot(name, about.commit, who, email, dated(tagger.time, tagger.offset), said)
