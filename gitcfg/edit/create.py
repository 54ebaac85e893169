"""New repositories that are there whole or not at all, whenever the program is killed or the disk is full."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gitcfg.edit import transaction as journal
from gitcfg.git.commit import commit_all, init_repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import SETTINGS

Files = Mapping[str, bytes]


class Created(msgspec.Struct, frozen=True):
    """What was made. `left` says why nothing was committed, if nothing was."""

    folder: Path
    files: int
    left: str = ""


def create_repository(folder: Path, files: Mapping[str, str | bytes], message: str) -> Created:
    """Write a repository into a folder that holds none of its files yet, and commit it if it is the first.

    A folder that is not there is made beside its place and moved there. One that is there gets its files by
    a journal, which whoever edits next finishes.
    Raise GitcfgError (4) if something is there already; then nothing is written.
    """
    texts = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    return (_filled if os.path.lexists(folder) else _moved)(folder, texts, message)


def _moved(folder: Path, files: Files, message: str) -> Created:
    """Make a new folder, with its first commit in it if it has a git of its own."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _beside(folder.parent, folder.name) as made:
        for path, text in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(text)
        _let_run(made, files)
        own = _git(made)[0] == made.resolve()
        left = _commit(made, files, message) if own else ""
        os.rename(made, folder)
    return Created(folder, len(files), left if own else _commit(folder, files, message))


def _filled(folder: Path, files: Files, message: str) -> Created:
    """Fill a folder that is there: git's own folder first, then all files by a journal, then the commit."""
    root = folder.resolve()
    if not any((above / ".git").exists() for above in (root, *root.parents)):
        _refuse(folder, files)
        with _beside(root, "git") as made:
            os.rename(_git(made)[1], root / ".git")
    git = _git(root)[1]
    written = {path: journal.FileChange(None, text) for path, text in files.items()}
    with journal.lock(git):
        journal.finish(root, git)
        _refuse(folder, files)
        with journal.finish_if_interrupted(root, git):
            journal.write_files(root, git, written)
        _let_run(root, files)
        try:
            return Created(folder, len(files), _commit(root, files, message))
        except BaseException:
            journal.write_files(
                root, git, {path: journal.FileChange(file.text, None) for path, file in written.items()}
            )
            raise


def _let_run(folder: Path, files: Files) -> None:
    """Make programs in files/ executable, so that they can be tried there."""
    for path, text in files.items():
        if path.startswith("files/") and text.startswith(b"#!"):
            (folder / path).chmod(0o755)


def _refuse(folder: Path, files: Iterable[str]) -> None:
    taken = next((path for path in (SETTINGS, *files) if os.path.lexists(folder / path)), None)
    if taken is not None:
        raise GitcfgError(f"{folder / taken} is there already.", "Choose a new folder.", code=REFUSED)


@contextmanager
def _beside(parent: Path, name: str) -> Iterator[Path]:
    """Make an empty folder on the same disk, with the mode of any new one; delete it if it was not moved."""
    with tempfile.TemporaryDirectory(prefix=f".{name}.gitcfg-", dir=parent, ignore_cleanup_errors=True) as at:
        made = Path(at) / name
        made.mkdir()
        yield made


def _git(folder: Path) -> tuple[Path, Path]:
    """Return the top of the git repository of a folder, and git's own folder; made where there is none."""
    git = init_repository(folder)
    if not git.workdir:
        raise GitcfgError(f"{git.path} has no work tree.", "Choose a folder in a clone of it.")
    return Path(git.workdir).resolve(), Path(git.path)


def _commit(folder: Path, files: Files, message: str) -> str:
    """Make the first commit, and return why there is none, if so."""
    git = init_repository(folder)
    if not git.head_is_unborn:
        return "There are commits already, so these files are for you to commit."
    below = folder.resolve().relative_to(_git(folder)[0])
    commit = commit_all(git, [(below / path).as_posix() for path in files], message)
    return "" if commit else "git knows no user.name and user.email, so nothing is committed yet."
