"""Writes the files of an edit, all or none, and commits just them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.transaction import FileChange
    from gitcfg.git.repository import Repository


@contextmanager
def exclusive_edit(session: Session, repository: "Repository") -> Iterator[Path]:
    """The folder of the journal, while nobody else edits; an edit that was interrupted is finished first."""
    from gitcfg.edit import transaction as journal

    folder = _journal_folder(repository)
    with journal.lock(folder):
        for path in journal.finish(repository.root, folder):
            session.console(stderr=True).print(
                f"finished an interrupted edit of {safe(path)}", style="yellow"
            )
        yield folder


def _journal_folder(repository: "Repository") -> Path:
    """git's own folder; where there is no git, a hidden one. GitcfgError: there is no work tree."""
    if repository.git is None:
        folder = repository.root / ".gitcfg"
        folder.mkdir(exist_ok=True)
        return folder
    if not repository.git.workdir:
        raise GitcfgError(f"{repository.root} has no work tree.", "Edit a clone of it.")
    return Path(repository.git.path)


def with_schema_lines(repository: "Repository", draft: "Draft") -> dict[str, bytes | None]:
    """A draft's files; a new one says which schema is its own, where `gitcfg schema` has written one."""
    texts = dict(draft.files)
    added = (path for path in texts if path.endswith(".yaml") and draft.original(path) is None)
    new = {path: texts[path] for path in added}
    if not new:
        return texts
    from gitcfg.editor.modelines import FOLDER, with_modeline

    for path, text in new.items():
        schema = repository.root / FOLDER / f"{path.partition('/')[0]}.json"
        if text is not None and schema.is_file():
            texts[path] = with_modeline(path, text)
    return texts


def write_files(
    repository: "Repository", folder: Path, files: Mapping[str, "Written"], message: str | None
) -> str | None:
    """Write files and, with a message, commit them; where git does not take it, all is as it was before."""
    from gitcfg.edit import transaction as journal
    from gitcfg.edit.transaction import commit_files
    from gitcfg.git.program import Git

    journal.write_files(repository.root, folder, files)
    if message is None:
        return None
    try:
        return commit_files(Git(repository, os.environ), repository, files, message)
    except BaseException:
        back = {path: journal.FileChange(file.text, file.was) for path, file in files.items()}
        journal.write_files(repository.root, folder, back)
        raise
