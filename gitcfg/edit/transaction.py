"""Files of which all are written or none, even if the program is killed: edits, and new repositories.

A journal first records what will be written; after an interruption, the next edit finishes it. The journal
itself is complete or absent: before it nothing has been written, after it everything will be.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

import msgspec

import gitcfg.progress as progress
from gitcfg.fs import sync, write_whole
from gitcfg.git.commit import PathChange, commit_all, init_repository
from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import SETTINGS, shown

_NAME = "gitcfg-edit"
_MODE = 0o644


class FileChange(msgspec.Struct, frozen=True):
    """The content of a file before and after; None: there is no file."""

    was: bytes | None
    text: bytes | None

    @property
    def change(self) -> PathChange:
        """The change of its path."""
        if self.was is None:
            return PathChange.CREATED
        return PathChange.DELETED if self.text is None else PathChange.CHANGED


Files = Mapping[str, FileChange]


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold the lock of edits; `folder` is that of the journal. Other edits wait until it is released."""
    descriptor = os.open(folder / f"{_NAME}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def finish(root: Path, folder: Path) -> tuple[str, ...]:
    """Finish an edit that was killed, and return the files that it wrote.

    Raise GitcfgError (4) if one of the files was changed since; nothing is then written.
    """
    journal = folder / _NAME
    if not journal.exists():
        return ()
    try:
        files = msgspec.msgpack.decode(journal.read_bytes(), type=dict[str, FileChange])
    except msgspec.DecodeError:
        raise GitcfgError(f"{journal} is not a journal of gitcfg.", "Look at it, then delete it.") from None
    _write_changes(root, files, journal)
    return tuple(files)


def is_pending(folder: Path) -> bool:
    """Return whether there is a journal: an edit was killed, or is running."""
    return (folder / _NAME).exists()


def write_files(root: Path, folder: Path, files: Files) -> None:
    """Write or delete files below a folder. Raise GitcfgError (4) if one has changed meanwhile."""
    journal = folder / _NAME
    _check_unchanged(root, files, journal, begun=False)
    write_whole(journal, msgspec.msgpack.encode(files), 0o600)
    try:
        _write_changes(root, files, journal)
    except OSError:
        # The disk is full, or a folder is not writable. If this fails, too, the next edit finishes.
        _write_texts(root, {path: file.was for path, file in files.items()}, journal)
        raise


def _write_changes(root: Path, files: Files, journal: Path) -> None:
    _check_unchanged(root, files, journal, begun=True)
    _write_texts(root, {path: file.text for path, file in files.items()}, journal)


def _write_texts(root: Path, texts: Mapping[str, bytes | None], journal: Path) -> None:
    """Write the files that differ, then delete the journal."""
    for path, text in texts.items():
        if _read(root / path) != text:
            _write(root / path, text)
    journal.unlink()
    sync(journal.parent)


def _write(place: Path, text: bytes | None) -> None:
    if text is None:
        place.unlink()
        sync(place.parent)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, text, stat.S_IMODE(place.stat().st_mode) if place.exists() else _MODE)


def _check_unchanged(root: Path, files: Files, journal: Path, *, begun: bool) -> None:
    """Raise GitcfgError (4) if a file has neither its old nor its new content, or is behind a link."""
    for path, file in files.items():
        place = root / path
        below = (part for part in (place, *place.parents) if root in part.parents)
        link = next((part for part in below if part.is_symlink()), None)
        if link is not None:
            raise GitcfgError(f"{link} is a symbolic link.", "Edit the file itself.", code=REFUSED)
        text = _read(place)
        if text != file.was and not (begun and text == file.text):
            hint = f"To discard that edit, delete {journal}." if begun else "Try again."
            raise GitcfgError(f"{path} has changed in the meantime.", hint, code=REFUSED)


def _read(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def finish_if_interrupted(root: Path, folder: Path) -> Iterator[None]:
    """Finish writing if it is interrupted: that takes no longer than undoing it."""
    try:
        yield
    except KeyboardInterrupt:
        finish(root, folder)
        raise


# Commits of only the files that an edit wrote: other staged changes stay staged.


def commit_files(git: Git, repository: Repository, paths: Iterable[str], message: str) -> str:
    """Commit files as they are in the work tree, and return the commit's id.

    Raise GitcfgError (1) if git or a hook refuses; the index is then as it was.
    """
    top = work_tree(repository)
    inside = f"{repository.prefix}/" if repository.prefix else ""
    files = [f"{inside}{path}" for path in paths]
    here = ("-C", str(top), f"--work-tree={top}", "--literal-pathspecs")
    tracked = set(git.run(*here, "ls-files", "-z").split("\0"))
    files = [file for file in files if file in tracked or (top / file).exists()]
    if not files:
        raise GitcfgError("These files are not in git, so there is nothing to commit.", "Omit `--commit`.")
    new = [file for file in files if file not in tracked]
    if new:
        git.run(*here, "add", "--intent-to-add", *_FROM_STDIN, stdin=_join_paths(new))
    commit = ("commit", "--quiet", "--only", "-m", message, *_FROM_STDIN)
    code, output, error = git.try_run(*here, *commit, stdin=_join_paths(files))
    if code:
        if new:
            git.run(*here, "rm", "--quiet", "--cached", "--force", *_FROM_STDIN, stdin=_join_paths(new))
        lines = [line.strip() for line in (*output.splitlines(), *error.splitlines()) if line.strip()]
        raise GitcfgError(
            "`git commit` failed, so nothing was changed.",
            *(f"git says: {shown(line, most=200)}" for line in lines),
            code=1,
        )
    return git.run("rev-parse", "HEAD")


_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")
"""The kernel allows some 100,000 arguments at most; an edit may write more files."""


def _join_paths(paths: Iterable[str]) -> bytes:
    return "\0".join(paths).encode()


def work_tree(repository: Repository) -> Path:
    """Return the top of the work tree. Raise GitcfgError if there is none."""
    git = repository.git_or_error("nothing can be committed in it")
    if not git.workdir:
        raise GitcfgError(f"{repository.root} is not a work tree of git, so nothing can be committed in it.")
    return Path(git.workdir).resolve()


# New repositories, which are complete or absent.


class CreatedRepository(msgspec.Struct, frozen=True):
    """A new repository with its files and its first commit. `uncommitted` says why there is no commit."""

    folder: Path
    files: tuple[str, ...]
    commit: str | None
    uncommitted: str = ""


FirstCommit = tuple[str | None, str]
"""The id of a commit, or None and why there is none."""


def create_repository(folder: Path, files: Mapping[str, str | bytes], message: str) -> CreatedRepository:
    """Write a repository into a folder that has none of its files yet, and make the first commit.

    A new folder is made beside its path, and then moved there. An existing one gets its files by a journal,
    which the next edit finishes after an interruption.
    Raise GitcfgError (4) if one of the files exists already; nothing is then written.
    """
    texts = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    create = _fill_folder if os.path.lexists(folder) else _create_folder
    return CreatedRepository(folder, tuple(sorted(files)), *create(folder, texts, message))


def _create_folder(folder: Path, texts: Mapping[str, bytes], message: str) -> FirstCommit:
    """Make a new folder, with the first commit inside if it is a git repository of its own."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _temporary_folder(folder.parent, folder.name) as new:
        for path, text in texts.items():
            progress.note("writing", path, len(texts))
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(text)
        _make_executable(new, texts)
        has_own_git = _init_git(new)[0] == new.resolve()
        commit = _commit_first(new, texts, message) if has_own_git else None
        os.rename(new, folder)
    return commit or _commit_first(folder, texts, message)


def _fill_folder(folder: Path, texts: Mapping[str, bytes], message: str) -> FirstCommit:
    """Fill an existing folder: first git's own folder, then all files by a journal, then the commit."""
    root = folder.resolve()
    if not any((above / ".git").exists() for above in (root, *root.parents)):
        _refuse_existing(folder, texts)
        with _temporary_folder(root, "git") as new:
            os.rename(_init_git(new)[1], root / ".git")
    git = _init_git(root)[1]
    with lock(git):
        finish(root, git)
        _refuse_existing(folder, texts)
        with finish_if_interrupted(root, git):
            write_files(root, git, {path: FileChange(None, text) for path, text in texts.items()})
        _make_executable(root, texts)
        try:
            return _commit_first(root, texts, message)
        except BaseException:  # an interruption, too, must leave nothing behind; it is raised again
            write_files(root, git, {path: FileChange(text, None) for path, text in texts.items()})
            raise


def _make_executable(folder: Path, texts: Mapping[str, bytes]) -> None:
    """Make programs in files/ executable, so that they can be tried there."""
    for path, text in texts.items():
        if path.startswith("files/") and text.startswith(b"#!"):
            (folder / path).chmod(0o755)


def _refuse_existing(folder: Path, files: Iterable[str]) -> None:
    existing = next((path for path in (SETTINGS, *files) if os.path.lexists(folder / path)), None)
    if existing is not None:
        raise GitcfgError(f"{folder / existing} already exists.", "Choose a new folder.", code=REFUSED)


@contextmanager
def _temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Make an empty folder on the same disk, with the default mode. Delete it if it was not moved."""
    with tempfile.TemporaryDirectory(prefix=f".{name}.gitcfg-", dir=parent, ignore_cleanup_errors=True) as at:
        new = Path(at) / name
        new.mkdir()
        yield new


def _init_git(folder: Path) -> tuple[Path, Path]:
    """Return the top of a folder's git repository, and git's own folder; create them if there are none."""
    git = init_repository(folder)
    if not git.workdir:
        raise GitcfgError(f"{git.path} has no work tree.", "Choose a folder in a clone of it.")
    return Path(git.workdir).resolve(), Path(git.path)


def _commit_first(folder: Path, paths: Iterable[str], message: str) -> FirstCommit:
    """Make the first commit. Return it, or why there is none."""
    git = init_repository(folder)
    if not git.head_is_unborn:
        return None, "The repository has commits already: commit these files yourself."
    below = folder.resolve().relative_to(_init_git(folder)[0])
    commit = commit_all(git, [(below / path).as_posix() for path in paths], message)
    return commit, "" if commit else "git has no user.name and user.email, so nothing is committed yet."
