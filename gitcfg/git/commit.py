"""Make commits: on the branch that is checked out, on a rendered ref, and in new repositories.

The git program writes them, so that hooks, signing and reflogs work as with `git commit`.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
import pygit2
from pygit2.enums import CheckoutStrategy, FileMode

from gitcfg.git.commit_tree import Items, Trees
from gitcfg.git.program import Git
from gitcfg.git.refs import Refs
from gitcfg.git.repository import MARKER, Repository
from gitcfg.git.tree import Content, Submodule, Symlink
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

HOOKS = ("pre-commit", "commit-msg")
"""The hooks that `git commit --no-verify` skips."""


class PathChange(StrEnum):
    """What a commit does to a path."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"


class BranchCommit:
    """The next commit of the checked-out branch, at `head`; `hooks` has those of HOOKS that run."""

    def __init__(self, repository: Repository, git: Git, head: str, hooks: tuple[str, ...]) -> None:
        self._pygit = repository.git_or_error()
        self._git = git
        self._top = Path(self._pygit.workdir)
        self._head = head
        self._hooks = hooks
        self._environment = {"GIT_OPTIONAL_LOCKS": "0", "GIT_WORK_TREE": str(self._top)}

    def changes(self, tree: str) -> dict[str, PathChange]:
        """Return the paths that differ between a tree and HEAD, each with what the tree does to it."""
        return dict(self._deltas(tree))

    def uncommitted(self, tree: str) -> tuple[str, ...]:
        """Return the files that would change and are not committed, in order of path."""
        changes = self.changes(tree)
        created = (path for path, change in changes.items() if change is PathChange.CREATED)
        found = {path for path in created if os.path.lexists(self._top / path)}
        words = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative", "HEAD", "--")
        for more in ((), ("--cached",)):
            output = self._git.run("diff", *more, *words, stdin=b"", **self._environment)
            found.update(changes.keys() & set(output.split("\0")))
        return tuple(sorted(found))

    def commit(self, tree: str, message: str) -> str:
        """Commit the tree after HEAD and run the hooks; no ref points to the commit yet."""
        self._run_pre_commit(tree)
        with tempfile.TemporaryDirectory(prefix="gitcfg-") as folder:
            file = Path(folder) / "COMMIT_EDITMSG"
            file.write_text(message, encoding="utf-8")
            self._run_hook("prepare-commit-msg", str(file), "message")
            if "commit-msg" in self._hooks:
                self._run_hook("commit-msg", str(file))
            text = self._git.run("stripspace", stdin=file.read_bytes()) + "\n"
        # `git commit` follows this setting, `git commit-tree` does not.
        signs = self._git.try_run("config", "--type=bool", "commit.gpgSign")[1] == "true"
        words = (*(("-S",) if signs else ()), tree, "-p", self._head, "-F", "-")
        return self._git.run("commit-tree", *words, stdin=text.encode())

    def move(self, commit: str, action: str) -> None:
        """Move branch, index and files to a commit. Raise GitcfgError (4) if git cannot.

        One git process does all three, and does not end with this program: if this program is killed, either
        nothing is changed or everything is.
        """
        if str(self._pygit.head.peel(pygit2.Commit).id) != self._head:
            raise GitcfgError("Another commit was made in the meantime.", "Try again.", code=REFUSED)
        words = ["-C", str(self._top), f"--work-tree={self._top}", "merge", "--ff-only", "--quiet"]
        plain = ["--no-autostash", "--no-verify-signatures", "--no-squash", "--no-stat"]
        code, error = self._git.run_detached(*words, *plain, commit, GIT_REFLOG_ACTION=action)
        if code:
            if ".lock" in error:
                hint = "Remove the lock file if no git process is running there."
            elif changed := len(self.uncommitted(commit)):  # some files are written, as on a full disk
                left = f"{changed} of its files may have changed: run `git status` to see them."
                hint = f"The branch is unchanged, but {left}"
            else:
                hint = "Nothing was changed."
            raise GitcfgError(f"git cannot update the files: {error}.", hint, code=REFUSED)
        self._run_hook("post-commit")

    def _deltas(self, tree: str) -> Iterator[tuple[str, PathChange]]:
        """Yield each path that differs from HEAD's, and how."""
        old, new = self._pygit[self._head].peel(pygit2.Tree), self._pygit[tree].peel(pygit2.Tree)
        for delta in old.diff_to_tree(new).deltas:
            if delta.status == pygit2.enums.DeltaStatus.ADDED:
                yield delta.new_file.path, PathChange.CREATED
            else:
                deleted = delta.status == pygit2.enums.DeltaStatus.DELETED
                yield delta.old_file.path, PathChange.DELETED if deleted else PathChange.CHANGED

    def _run_hook(self, name: str, *words: str, **more: str) -> None:
        """Run a hook if there is one, from the top of the work tree. Raise GitcfgError (4) if it refuses."""
        if not self._has_hook(name):
            return
        call = ["-C", str(self._top), f"--work-tree={self._top}", "hook", "run", name, "--", *words]
        code, output, error = self._git.try_run(*call, stdin=b"", GIT_EDITOR=":", **more)
        if code and name != "post-commit":
            reason = "\n".join(filter(None, (output, error)))
            hint = "Use `--no-verify` to skip the hook." if name in HOOKS else ""
            raise GitcfgError(f"The hook {name} rejected the commit:\n{reason}", hint, code=REFUSED)

    def _run_pre_commit(self, tree: str) -> None:
        """Run the hook with an index of its own, as `git commit PATH` does."""
        if "pre-commit" not in self._hooks or not self._has_hook("pre-commit"):
            return
        with tempfile.TemporaryDirectory(prefix="gitcfg-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._git.run("read-tree", tree, stdin=b"", **index)
            self._run_hook("pre-commit", **index)
            if self._git.run("write-tree", stdin=b"", **index) != tree:
                what = "the content of the commit, which gitcfg has already checked."
                hint = "Use `--no-verify` to skip the hook."
                raise GitcfgError(f"The hook pre-commit changes {what}", hint, code=REFUSED)

    def _has_hook(self, name: str) -> bool:
        place = self._top / self._git.run("rev-parse", "--git-path", f"hooks/{name}")
        return place.is_file() and os.access(place, os.X_OK)


_NONE = "0" * 40
_TRIES, _PAUSE = 20, 0.1
_LATEST = 1 << 40  # seconds; git accepts no later dates
_CRUD = frozenset(map(chr, range(33))) | frozenset(".,:;<>\"\\'")
_IDENTITY = re.compile(
    r"(?P<name>.+) <(?P<email>.*)> (?P<time>\d+) (?P<sign>[+-])(?P<hours>\d\d)(?P<minutes>\d\d)"
)


class Tip(msgspec.Struct, frozen=True):
    """The commit at the ref, its folders by name, and its message's trailers by word."""

    commit: str
    tree: str
    rows: Items
    trailers: Mapping[str, str]


class RenderedRef:
    """A ref, full (`refs/heads/rendered`) or short for a branch. Only `git` writes."""

    def __init__(self, repository: Repository, git: Git, ref: str, mark: str) -> None:
        """Begin with a ref. Each commit on it has the trailer `mark`.

        Raise GitcfgError if the ref's name is not valid or not allowed.
        """
        self._pygit = repository.git_or_error()
        self._git = git
        self._mark = mark
        self.trees = Trees(self._pygit)
        self.ref = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
        if git.try_run("check-ref-format", self.ref)[0]:
            raise GitcfgError(
                f"{shown(ref)} is not a valid ref name.", "Use a branch name, or refs/heads/NAME."
            )
        self._refuse_checked_out(Refs(repository).head)

    def _refuse_checked_out(self, head: str) -> None:
        trees = self._git.run("worktree", "list", "--porcelain").splitlines()
        branches = {line.removeprefix("branch ") for line in trees if line.startswith("branch ")}
        if self.ref in branches | {head}:
            hint = "Use a separate branch, such as `rendered`."
            raise GitcfgError(f"{self.ref} is checked out.", hint, code=REFUSED)
        if not self._git.try_run("symbolic-ref", "-q", self.ref)[0]:
            raise GitcfgError(
                f"{self.ref} is a symbolic ref.", "Use the ref that it points to.", code=REFUSED
            )

    def tip(self) -> Tip | None:
        """Return the tip of the ref, if there is one. Raise GitcfgError if gitcfg did not make it."""
        found = self._pygit.references.get(self.ref)
        if found is None:
            return None
        commit = self._pygit.get(found.target)
        if not isinstance(commit, pygit2.Commit):
            raise GitcfgError(f"{self.ref} does not point to a commit.", "Use another ref.", code=REFUSED)
        rows = self.trees.items(commit.tree_id.raw)
        if MARKER in rows:
            message = f"{self.ref} contains a {MARKER}: it is a configuration, not a rendered ref."
            raise GitcfgError(message, "Use a separate branch, such as `rendered`.", code=REFUSED)
        trailers = parse_trailers(commit.raw_message.decode("utf-8", "replace"))
        if self._mark not in trailers:
            hint = "Use another ref, or remove this one: gitcfg would replace its content."
            raise GitcfgError(f"{self.ref} was not created by gitcfg.", hint, code=REFUSED)
        return Tip(str(commit.id), str(commit.tree_id), rows, trailers)

    def commit(self, tree: str, parent: Tip | None, source: str, message: str) -> str:
        """Commit a tree after the tip, by the author of the source; sign it if a key is configured."""
        words = [*self._git.signing(), tree, *(("-p", parent.commit) if parent is not None else ())]
        more = {**self._git.identity(), **self._author(source)}
        return self._git.run("commit-tree", *words, "-F", "-", stdin=message.encode(), **more)

    def move(self, commit: str, tip: Tip | None) -> bool:
        """Move the ref to a commit; return False if it has moved since. Raise GitcfgError if git cannot."""
        before = tip.commit if tip is not None else _NONE
        words = ("-m", "gitcfg: rendered", "--no-deref", self.ref, commit, before)
        for _ in range(_TRIES):
            code, _, error = self._git.try_run("update-ref", *words)
            if not code:
                return True
            now = self._pygit.references.get(self.ref)
            if (str(now.target) if now is not None else _NONE) != before:
                return False
            if ".lock" not in error:  # with it, another process moves the ref, or was killed meanwhile
                break
            time.sleep(_PAUSE)
        why = error.partition("\n")[0].removeprefix("fatal: ").rstrip(".")
        hint = "Remove the lock file if no git process is running there." if ".lock" in why else ""
        raise GitcfgError(f"Cannot move {self.ref}: {why}.", hint, code=REFUSED)

    def _author(self, source: str) -> dict[str, str]:
        """Return the source's author, as far as git accepts it, so `git blame` shows who wrote a line."""
        found = self._pygit[source]
        assert isinstance(found, pygit2.Commit)
        author = found.author
        name, email = (raw.decode("utf-8", "replace") for raw in (author.raw_name, author.raw_email))
        variables = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email} if set(name) - _CRUD else {}
        if 0 <= author.time < _LATEST and abs(author.offset) < 24 * 60:
            sign, hours, minutes = "-" if author.offset < 0 else "+", *divmod(abs(author.offset), 60)
            variables["GIT_AUTHOR_DATE"] = f"@{author.time} {sign}{hours:02}{minutes:02}"
        return variables


def parse_trailers(message: str) -> dict[str, str]:
    """Return the trailers of a message, one `Word: text` per line; the first paragraph never counts."""
    paragraphs = message.strip("\n").split("\n\n")
    lines = paragraphs[-1].splitlines() if len(paragraphs) > 1 else []
    found = (line.partition(": ") for line in lines)
    return {word: text.strip() for word, colon, text in found if colon}


def init_repository(folder: Path) -> pygit2.Repository:
    """Open the git repository of a folder; create it if there is none."""
    found = pygit2.discover_repository(str(folder))
    return pygit2.Repository(found) if found else pygit2.init_repository(str(folder), initial_head="main")


def commit_all(git: pygit2.Repository, paths: Iterable[str], message: str) -> str | None:
    """Commit files as the first commit; return None if there are commits already, or git knows no author."""
    if not git.head_is_unborn:
        return None
    for path in paths:
        git.index.add(path)
    git.index.write()
    author, committer = _identity(git, "AUTHOR"), _identity(git, "COMMITTER")
    if author is None or committer is None:
        return None
    tree = git.index.write_tree()
    return str(git.create_commit("HEAD", author, committer, message + "\n", tree, []))


def _identity(git: pygit2.Repository, role: str) -> pygit2.Signature | None:
    """Return git's own identity for a role: its library knows only the configuration, not the environment."""
    call = ["git", "-C", git.path, "var", f"GIT_{role}_IDENT"]
    try:
        done = subprocess.run(call, capture_output=True, check=False, text=True, errors="replace")
    except OSError:
        return None
    found = _IDENTITY.fullmatch(done.stdout.strip())
    if found is None:
        return None
    minutes = int(found["sign"] + "1") * (int(found["hours"]) * 60 + int(found["minutes"]))
    return pygit2.Signature(found["name"], found["email"], int(found["time"]), minutes)


_NOBODY = pygit2.Signature("gitcfg", "gitcfg@localhost", 0, 0)
_NO_COMMIT = "1" * 40  # the commit of a submodule: git does not accept zeros there


def commit_versions(folder: Path, versions: Sequence[Mapping[str, Content]]) -> None:
    """Commit versions one after another on main, and check the last one out."""
    git = pygit2.init_repository(str(folder), initial_head="main")
    git.config["core.autocrlf"] = "false"
    parents: list[pygit2.Oid] = []
    for number, files in enumerate(versions, 1):
        index = pygit2.Index()
        for path, content in files.items():
            index.add(pygit2.IndexEntry(path, *_write_object(git, content)))
        tree = index.write_tree(git)
        parents = [git.create_commit("HEAD", _NOBODY, _NOBODY, f"Version {number}\n", tree, parents)]
    git.checkout("HEAD", strategy=CheckoutStrategy.FORCE)


def _write_object(git: pygit2.Repository, content: Content) -> tuple[pygit2.Oid, FileMode]:
    if isinstance(content, Submodule):
        return pygit2.Oid(hex=_NO_COMMIT), FileMode.COMMIT
    data = content.encode() if isinstance(content, str) else content
    return git.create_blob(data), FileMode.LINK if isinstance(content, Symlink) else FileMode.BLOB
