"""A git repository: its trees by revision, and its git configuration, which no push can change."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pygit2
from pygit2.enums import RepositoryOpenFlag

from gitcfg.git.commit_tree import CommitTree, Listings
from gitcfg.git.index import IndexTree, merged, staged, whole_index
from gitcfg.git.objects import Store, common_folder
from gitcfg.git.tree import Tree
from gitcfg.git.worktree import FolderTree, NoGit, WorkTree
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

MARKER = "gitcfg.yaml"


class Repository:
    """An open repository. `root` is the folder with gitcfg.yaml, `prefix` its path inside git's tree.

    Without git, the folder itself can still be read, but has no commits.
    """

    def __init__(self, root: Path, git: pygit2.Repository | None, prefix: str) -> None:
        self.root = root
        self.git = git
        self.prefix = prefix
        self._listed: Listings = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Repository":
        """Return the repository that contains a folder.

        Raise GitcfgError if there is none that can be read.
        """
        folder = Path(path).resolve()
        if not folder.is_dir():
            raise GitcfgError(f"The folder {path} does not exist.")
        git = _discover(folder)
        workdir = Path(git.workdir).resolve() if git is not None and git.workdir else None
        if git is not None and workdir is None:
            return cls(folder, git, "")
        places = [folder, *folder.parents]
        if workdir is not None:  # up to the top of the work tree
            places = places[: places.index(workdir) + 1] if workdir in places else [folder]
        root = next((place for place in places if (place / MARKER).is_file()), None)
        if root is None:
            hint = "Change to a repository, name one with `--repo`, or create one with `gitcfg init`."
            raise GitcfgError(f"There is no {MARKER} in {folder} or above.", hint)
        prefix = "" if workdir in (None, root) else root.relative_to(workdir).as_posix()
        return cls(root, git, prefix)

    @classmethod
    def served(cls, path: str | os.PathLike[str]) -> "Repository":
        """Open a repository that accepts pushes: git's own folder, whether or not there is a work tree.

        `gitcfg.folder` in git's configuration is the repository's folder in git's tree. Raise GitcfgError if
        there is no git folder.
        """
        git = _discover(Path(path).resolve())
        if git is None:
            raise not_served(path)
        bare = cls(Path(git.path), git, "")
        return cls(bare.root, git, (Config(bare).last("gitcfg.folder") or "").strip("/"))

    @property
    def shared(self) -> Path | None:
        """The folder of the git repository that all its work trees share; None without git."""
        return common_folder(self.git) if self.git is not None else None

    def worktree(self) -> Tree:
        """Return the tree of the folder: untracked files count, ignored ones do not."""
        if self.git is not None and not self.git.workdir:
            return self.at("HEAD")
        return FolderTree(self.root, WorkTree(self.git) if self.git is not None else NoGit())

    def index(self, file: str | None = None) -> Tree:
        """Return the tree that would be committed; `file` is another index than the repository's own.

        `git commit --all` and `git commit PATH` make one, and name it to hooks in GIT_INDEX_FILE.
        """
        git = self.git_or_error("the index cannot be read")
        return IndexTree(git, self.prefix, staged(whole_index(git, Path(file or Path(git.path) / "index"))))

    def at(self, revision: str) -> Tree:
        """Return a commit's tree; `revision` is anything that `git rev-parse` accepts."""
        commit = self.commit(revision)
        return CommitTree(self.git_or_error(), commit, self.prefix, self._listed)

    def knows(self, revision: str) -> bool:
        """Return whether there is such a revision."""
        return self.git is not None and _commit(self.git, revision) is not None

    def merge_base(self, ours: str, theirs: str) -> str:
        """Return the commit at which two revisions diverged. Raise GitcfgError if there is none."""
        git = self.git_or_error("a merge base cannot be read")
        base = git.merge_base(self.commit(ours).id, self.commit(theirs).id)
        if base is None:
            raise GitcfgError(f"{ours} and {theirs} have no commit in common.")
        return str(base)

    def merged(self, ours: str, theirs: str) -> Tree:
        """Return the result of merging a revision into another. Raise GitcfgError if there are conflicts."""
        git = self.git_or_error("a merge cannot be read")
        sides = self.commit(ours), self.commit(theirs)
        base = git.merge_base(*(side.id for side in sides))
        Store(git).complete(*(str(id) for id in (base, *(side.id for side in sides)) if id is not None))
        index = git.merge_commits(*sides)
        if index.conflicts is not None:
            paths = sorted({entry.path for sides in index.conflicts for entry in sides if entry})
            message = f"{theirs} cannot be merged into {ours} without conflicts."
            raise GitcfgError(message, f"Both sides change {', '.join(paths)}.", code=1)
        return IndexTree(git, self.prefix, merged(index))

    def before(self, tree: Tree) -> Tree | None:
        """Return the tree before one: a commit's first parent, for all else HEAD; None at the beginning."""
        if self.git is None:
            return None
        if tree.commit is not None:
            parents = self.git[tree.commit].peel(pygit2.Commit).parent_ids
            return self.at(str(parents[0])) if parents else None
        if self.git.head_is_unborn:
            return None
        return CommitTree(self.git, self.git.head.peel(pygit2.Commit), self.prefix, self._listed)

    def without(self, revision: str, paths: Iterable[str]) -> str:
        """Return the id of a new tree: the whole tree of a commit without some files of the repository."""
        index = pygit2.Index()
        index.read_tree(self.commit(revision).tree)
        for path in paths:
            index.remove(f"{self.prefix}/{path}" if self.prefix else path)
        return str(index.write_tree(self.git_or_error()))

    def commit(self, revision: str) -> pygit2.Commit:
        """Return a commit as an object of git's library. Raise GitcfgError if there is no such revision."""
        commit = _commit(self.git_or_error("a revision cannot be read"), revision)
        if commit is None:
            hints = ["Run `git log --oneline` to list commits."]
            if self.git_or_error().is_shallow:
                hints.append("This clone is shallow. Run `git fetch --unshallow` to get earlier commits.")
            raise GitcfgError(f"There is no revision {shown(revision)}.", *hints)
        return commit

    def git_or_error(self, so: str = "") -> pygit2.Repository:
        """Return the open repository of git's library.

        Raise GitcfgError, with `so` as consequence, without git.
        """
        if self.git is None:
            follows = f", so {so}" if so else ""
            raise GitcfgError(f"{self.root} is not a git repository{follows}.", "Run `git init`.")
        return self.git


def not_served(path: str | os.PathLike[str]) -> GitcfgError:
    """Return the error for a folder that accepts no pushes."""
    return GitcfgError(f"{path} is not a git repository.", "Name the repository that people push to.")


def _commit(git: pygit2.Repository, revision: str) -> pygit2.Commit | None:
    try:
        return git.revparse_single(revision).peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError):
        return None


def _open(folder: str) -> pygit2.Repository:
    """Open a git repository. In hooks, git names the folder of pushed objects only in the environment."""
    own, quarantine = os.environ.get("GIT_DIR"), os.environ.get("GIT_QUARANTINE_PATH")
    if own is not None and quarantine is not None and os.path.samefile(own, folder):
        git = pygit2.Repository(folder, RepositoryOpenFlag.FROM_ENV)
        # git quotes paths with a colon; git's library would split them there.
        for quoted in _QUOTED.finditer(os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")):
            git.odb.add_disk_alternate(_unquote(quoted[1]))
        return git
    return pygit2.Repository(folder)


_QUOTED = re.compile(r'(?:^|:)"((?:[^"\\]|\\.)*)"(?=:|$)', re.DOTALL)
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def _unquote(text: str) -> str:
    def unescape(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if len(code) == 3 else bytes([_LETTERS.get(code[0], code[0])])

    return os.fsdecode(_ESCAPED.sub(unescape, os.fsencode(text)))


def _discover(folder: Path) -> pygit2.Repository | None:
    try:
        found = pygit2.discover_repository(str(folder))
        return _open(found) if found else None
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise GitcfgError(f"Cannot open the git repository: {error}.", _hint(str(error))) from None


def _hint(reason: str) -> str:
    if "owned" in reason or "ownership" in reason:
        return "It belongs to another user. Run `git config --global --add safe.directory PATH` to trust it."
    if "object" in reason or "sha256" in reason.lower():
        return "gitcfg reads only repositories with SHA-1 ids: libgit2 supports no others."
    return ""


# git's own configuration of a repository: settings of its administrator, which no push can change.


class Config:
    """Values by key (`gitcfg.ratchet`), as `git config` shows them."""

    def __init__(self, repository: Repository) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._config = repository.git_or_error("it has no settings").config

    def all(self, key: str) -> tuple[str, ...]:
        """Return all values of a key, in order: those of the machine first, the repository's own last."""
        return tuple(value or "" for value in self._config.get_multivar(key))

    def last(self, key: str) -> str | None:
        """Return the value that counts."""
        found = self.all(key)
        return found[-1] if found else None

    def section(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield all keys and values of a section (`gitcfg`), with keys in lower case, in order."""
        for entry in self._config:
            if entry.name.startswith(f"{name}."):
                yield entry.name, entry.value or ""

    def flag(self, key: str) -> bool | None:
        """Return a boolean as git reads it; None: not set. Raise GitcfgError if it is not one."""
        found = self.last(key)
        if found is None:
            return None
        try:
            return bool(self._config.get_bool(key))
        except (ValueError, pygit2.GitError):
            raise unknown_value(key, found, "`true` or `false`") from None

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        """Return one of several words; None: not set. Raise GitcfgError if it is another one."""
        found = self.last(key)
        if found is not None and found not in choices:
            raise unknown_value(key, found, " or ".join(f"`{word}`" for word in choices))
        return found

    def file(self, key: str) -> bytes | None:
        """Return the content of the file that a key names; None: not set.

        Raise GitcfgError if it is missing.
        """
        found = self.last(key)
        if found is None:
            return None
        try:
            return Path(found).expanduser().read_bytes()
        except OSError as error:
            message = f"{key} in git's configuration of this repository names {found!r}: {error.strerror}."
            raise GitcfgError(message, "Name a file that this user can read.") from None


def unknown_value(key: str, value: str, expected: str) -> GitcfgError:
    """Return the error for an invalid value in git's configuration."""
    return GitcfgError(
        f"{key} has an invalid value in git's configuration of this repository: {value!r}.",
        f"Write {expected}.",
    )
