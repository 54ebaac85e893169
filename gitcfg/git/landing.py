"""A tree that was judged becomes the next commit of the branch, and the files in the folder follow it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pygit2

from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError

HOOKS = ("pre-commit", "commit-msg")
"""The hooks that `git commit --no-verify` goes around."""


class Landing:
    """The branch that is checked out, at `head`; `hooks` says which of HOOKS are asked."""

    def __init__(self, repository: Repository, git: Git, head: str, hooks: tuple[str, ...]) -> None:
        self._pygit = repository.git_or_error()
        self._git = git
        self._top = Path(self._pygit.workdir)
        self._head = head
        self._hooks = hooks
        self._calm = {"GIT_OPTIONAL_LOCKS": "0", "GIT_WORK_TREE": str(self._top)}

    def changed(self, tree: str) -> frozenset[str]:
        """The paths that a tree has otherwise than HEAD."""
        return frozenset(path for path, _ in self._deltas(tree))

    def in_the_way(self, tree: str) -> tuple[str, ...]:
        """What lies there uncommitted of the files that would change, in order of path."""
        found = {path for path, added in self._deltas(tree) if added and self._stands(path)}
        words = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative", "HEAD", "--")
        for more in ((), ("--cached",)):
            told = self._git.say("diff", *more, *words, given=b"", **self._calm)
            found.update(self.changed(tree) & set(told.split("\0")))
        return tuple(sorted(found))

    def commit(self, tree: str, message: str) -> str:
        """A commit of the tree after HEAD, to which nothing leads yet; hooks have their say as with git."""
        self._ask_pre_commit(tree)
        with tempfile.TemporaryDirectory(prefix="gitcfg-") as folder:
            file = Path(folder) / "COMMIT_EDITMSG"
            file.write_text(message, encoding="utf-8")
            self._hook("prepare-commit-msg", str(file), "message")
            if "commit-msg" in self._hooks:
                self._hook("commit-msg", str(file))
            text = self._git.say("stripspace", given=file.read_bytes()) + "\n"
        return self._git.say(
            "commit-tree", *self._signing(), tree, "-p", self._head, "-F", "-", given=text.encode()
        )

    def move(self, commit: str, action: str) -> None:
        """Let branch, index and files follow. GitcfgError (4): they cannot, so branch and index stay.

        One git does all three, and is not ended with this program: who kills it before finds nothing
        changed, and who kills it after finds everything done.
        """
        if str(self._pygit.head.peel(pygit2.Commit).id) != self._head:
            raise GitcfgError("Another commit has been made meanwhile.", "Try again.", code=REFUSED)
        words = ["-C", str(self._top), f"--work-tree={self._top}", "merge", "--ff-only", "--quiet"]
        plain = ["--no-autostash", "--no-verify-signatures", "--no-squash", "--no-stat"]
        code, error = self._git.apart(*words, *plain, commit, GIT_REFLOG_ACTION=action)
        if code:
            hint = "Remove the lock if no git is at work there." if ".lock" in error else self._left(commit)
            raise GitcfgError(f"git cannot change the files: {error}.", hint, code=REFUSED)
        self._hook("post-commit")

    def _left(self, commit: str) -> str:
        """A hint at what git has done before it failed: on a full disk, say, some files are written."""
        changed = len(self.in_the_way(commit))
        if not changed:
            return "Nothing was changed."
        return (
            f"The branch is as it was, but of its files {changed} may have changed: `git status` shows them."
        )

    def _deltas(self, tree: str) -> Iterator[tuple[str, bool]]:
        """Each path that differs from HEAD's, and whether it is new."""
        old, new = self._pygit[self._head].peel(pygit2.Tree), self._pygit[tree].peel(pygit2.Tree)
        for delta in old.diff_to_tree(new).deltas:
            added = delta.status == pygit2.enums.DeltaStatus.ADDED
            yield (delta.new_file if added else delta.old_file).path, added

    def _stands(self, path: str) -> bool:
        return os.path.lexists(self._top / path)

    def _hook(self, name: str, *words: str, **more: str) -> None:
        """Run a hook where there is one, from the top of the work tree. GitcfgError (4): it refuses."""
        if not self._is_there(name):
            return
        call = ["-C", str(self._top), f"--work-tree={self._top}", "hook", "run", name, "--", *words]
        code, told, error = self._git.ask(*call, given=b"", GIT_EDITOR=":", **more)
        if code and name != "post-commit":
            said = "\n".join(filter(None, (told, error)))
            hint = "--no-verify goes around it." if name in HOOKS else ""
            raise GitcfgError(f"The hook {name} refuses:\n{said}", hint, code=REFUSED)

    def _signing(self) -> tuple[str, ...]:
        """`git commit` heeds this setting, `git commit-tree` does not."""
        return ("-S",) if self._git.ask("config", "--type=bool", "commit.gpgSign")[1] == "true" else ()

    def _ask_pre_commit(self, tree: str) -> None:
        """Show the hook an index of its own, as `git commit PATH` does."""
        if "pre-commit" not in self._hooks or not self._is_there("pre-commit"):
            return
        with tempfile.TemporaryDirectory(prefix="gitcfg-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._git.say("read-tree", tree, given=b"", **index)
            self._hook("pre-commit", **index)
            if self._git.say("write-tree", given=b"", **index) != tree:
                hint = "--no-verify goes around the hook."
                message = (
                    "The hook pre-commit changes what is to be committed, and that has been judged as it is."
                )
                raise GitcfgError(message, hint, code=REFUSED)

    def _is_there(self, name: str) -> bool:
        place = self._top / self._git.say("rev-parse", "--git-path", f"hooks/{name}")
        return place.is_file() and os.access(place, os.X_OK)
