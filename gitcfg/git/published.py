"""A ref on which a program commits what it makes of other commits: its tip, and the next commit on it."""

import time
from collections.abc import Mapping

import msgspec
import pygit2

from gitcfg.git.differences import Trees
from gitcfg.git.program import Git
from gitcfg.git.refs import Refs
from gitcfg.git.repository import MARKER, Repository
from gitcfg.git.rows import Items
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

_NONE = "0" * 40
_TRIES, _PAUSE = 20, 0.1
_LATEST = 1 << 40  # seconds; git knows no later dates
_CRUD = frozenset(map(chr, range(33))) | frozenset(".,:;<>\"\\'")


class Tip(msgspec.Struct, frozen=True):
    """What stands at the ref: a commit, its folders by name, and what its last paragraph says, by word."""

    commit: str
    tree: str
    rows: Items
    trailers: Mapping[str, str]


class Published:
    """A ref, full (`refs/heads/rendered`) or short for a branch; `git` writes, nothing else does."""

    def __init__(self, repository: Repository, git: Git, ref: str, mark: str) -> None:
        """Each commit on it has the trailer `mark`. GitcfgError: no ref is called so, or it must not be."""
        self._pygit = repository.git_or_error()
        self._git = git
        self._mark = mark
        self.trees = Trees(self._pygit)
        self.ref = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
        if git.ask("check-ref-format", self.ref)[0]:
            raise GitcfgError(f"{shown(ref)} is no name of a ref.", "Say a branch, or refs/heads/NAME.")
        self._refuse_checked_out(Refs(repository).head)

    def _refuse_checked_out(self, head: str) -> None:
        trees = self._git.say("worktree", "list", "--porcelain").splitlines()
        taken = {line.removeprefix("branch ") for line in trees if line.startswith("branch ")}
        if self.ref in taken | {head}:
            hint = "Name a branch of its own, such as `rendered`."
            raise GitcfgError(f"{self.ref} is the branch that is checked out.", hint, code=REFUSED)
        if not self._git.ask("symbolic-ref", "-q", self.ref)[0]:
            raise GitcfgError(f"{self.ref} stands for another ref.", "Name that one.", code=REFUSED)

    def tip(self) -> Tip | None:
        """What stands there now; None: nothing yet. GitcfgError: something that was not made here."""
        found = self._pygit.references.get(self.ref)
        if found is None:
            return None
        commit = self._pygit.get(found.target)
        if not isinstance(commit, pygit2.Commit):
            raise GitcfgError(f"{self.ref} leads to no commit.", "Name another ref.", code=REFUSED)
        rows = self.trees.items(commit.tree_id.raw)
        if MARKER in rows:
            hint = "Name a branch of its own, such as `rendered`."
            raise GitcfgError(
                f"{self.ref} holds a {MARKER}: it is no rendered ref, but a configuration.",
                hint,
                code=REFUSED,
            )
        said = trailers(commit.raw_message.decode("utf-8", "replace"))
        if self._mark not in said:
            hint = "Name another ref, or remove that one: what is on it would vanish from its tip."
            raise GitcfgError(f"{self.ref} was not made by gitcfg.", hint, code=REFUSED)
        return Tip(str(commit.id), str(commit.tree_id), rows, said)

    def commit(self, tree: str, parent: Tip | None, source: str, message: str) -> str:
        """A commit of a tree after the tip, by the author of the source; signed if a key is configured."""
        words = [*self._git.signing(), tree, *(("-p", parent.commit) if parent is not None else ())]
        more = {**self._git.identity(), **self._author(source)}
        return self._git.say("commit-tree", *words, "-F", "-", given=message.encode(), **more)

    def move(self, commit: str, tip: Tip | None) -> bool:
        """Let the ref lead to a commit, unless it has moved since. GitcfgError: it cannot."""
        before = tip.commit if tip is not None else _NONE
        words = ("-m", "gitcfg: rendered", "--no-deref", self.ref, commit, before)
        for _ in range(_TRIES):
            code, _, error = self._git.ask("update-ref", *words)
            if not code:
                return True
            now = self._pygit.references.get(self.ref)
            if (str(now.target) if now is not None else _NONE) != before:
                return False
            if ".lock" not in error:  # with it, another one is about to move it, or was killed when it was
                break
            time.sleep(_PAUSE)
        why = error.partition("\n")[0].removeprefix("fatal: ").rstrip(".")
        hint = "Remove the lock if no git is at work there." if ".lock" in why else ""
        raise GitcfgError(f"{self.ref} cannot be moved: {why}.", hint, code=REFUSED)

    def _author(self, source: str) -> dict[str, str]:
        """The source's author, as far as git takes it: `git blame` then names who is behind a line."""
        found = self._pygit[source]
        assert isinstance(found, pygit2.Commit)
        author = found.author
        name, email = (raw.decode("utf-8", "replace") for raw in (author.raw_name, author.raw_email))
        said = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email} if set(name) - _CRUD else {}
        if 0 <= author.time < _LATEST and abs(author.offset) < 24 * 60:
            sign, hours, minutes = "-" if author.offset < 0 else "+", *divmod(abs(author.offset), 60)
            said["GIT_AUTHOR_DATE"] = f"@{author.time} {sign}{hours:02}{minutes:02}"
        return said


def trailers(message: str) -> dict[str, str]:
    """What the last paragraph of a message says, `Word: text` a line; the first paragraph never counts."""
    paragraphs = message.strip("\n").split("\n\n")
    lines = paragraphs[-1].splitlines() if len(paragraphs) > 1 else []
    found = (line.partition(": ") for line in lines)
    return {word: text.strip() for word, colon, text in found if colon}
