"""What `gitcfg new`, `modify` and `delete` do: edit, judge, write, commit, and tell what was done."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.plain import counted, safe
from gitcfg.cli.session import Session
from gitcfg.model import Finding, GitcfgError, Origin, Severity

if TYPE_CHECKING:
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.journal import Written
    from gitcfg.edit.orders import Order
    from gitcfg.git.repository import Repository
    from gitcfg.git.tree import Tree
    from gitcfg.library import Source


class Wish(msgspec.Struct, frozen=True):
    """How edits are to be made: in spite of errors (`force`), and with which commit, if with one.

    `names`: the first is called as the second from now on, in what was known to be wrong as well.
    """

    force: bool = False
    message: str | None = None
    names: tuple[str, str] | None = None


def wish(
    force: bool, commit: bool, message: str | None, subject: str, names: tuple[str, str] | None = None
) -> Wish:
    """What the options say. GitcfgError: a message without a commit."""
    if message is not None and not commit:
        raise GitcfgError(
            "-m is the message of a commit, and none was asked for.", "Say --commit -m MESSAGE."
        )
    return Wish(force, (message or subject) if commit else None, names)


def edit(session: Session, orders: Iterable["Order"], wished: Wish) -> int:
    """Carry out orders, all or none; 1 if they would add errors, and then nothing is written."""
    from gitcfg.edit.carry import carry_out

    return carry(session, lambda draft: carry_out(draft, orders), wished)


def carry(session: Session, work: Callable[["Draft"], None], wished: Wish) -> int:
    """Do some work on a draft and write what it makes, all or nothing; 1 if that would add errors."""
    from gitcfg.edit import journal
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.overlay import OverlayTree

    source = session.open()
    folder = _journal_folder(source.repository)
    with journal.alone(folder):
        for path in journal.finish(source.repository.root, folder):
            session.console(stderr=True).print(
                f"finished an interrupted edit of {safe(path)}", style="yellow"
            )
        tree = source.repository.worktree()
        draft = Draft(tree)
        work(draft)
        texts = {
            path: _headed(source.repository, draft.was(path), path, text)
            for path, text in draft.files.items()
        }
        files = {path: journal.Written(draft.was(path), text) for path, text in texts.items()}
        if files and not _acceptable(session, source, tree, OverlayTree(tree, texts), wished):
            return 1
        if files:
            journal.write(source.repository.root, folder, files)
        commit = _commit(source.repository, folder, files, wished.message) if files else None
    _tell(session, files, commit)
    return 0


def _journal_folder(repository: "Repository") -> Path:
    """git's own folder; where there is no git, a hidden one. GitcfgError: there is no work tree."""
    if repository.git is None:
        folder = repository.root / ".gitcfg"
        folder.mkdir(exist_ok=True)
        return folder
    if not repository.git.workdir:
        raise GitcfgError(f"{repository.root} has no work tree.", "Edit a clone of it.")
    return Path(repository.git.path)


def _headed(repository: "Repository", was: bytes | None, path: str, text: bytes | None) -> bytes | None:
    """A new file says which schema is its own, where `gitcfg schema` has written one."""
    from gitcfg.editor.modelines import FOLDER, with_modeline

    kind = path.partition("/")[0]
    if was is not None or text is None or not (repository.root / FOLDER / f"{kind}.json").is_file():
        return text
    return with_modeline(path, text)


def _acceptable(session: Session, source: "Source", before: "Tree", after: "Tree", wished: Wish) -> bool:
    """Tell what an edit would make wrong; is it to be written?"""
    from gitcfg.gate.ruling import unlike
    from gitcfg.library import Fleet

    base = source.repository.before(before)
    with Fleet(before, base, source.today, source.cache) as old:
        known = tuple(_called(finding, wished.names) for finding in old.findings)
    with Fleet(after, base, source.today, source.cache) as new:
        found = unlike(new.findings, known)
    if found:
        from gitcfg.cli.findings import show

        show(session.console(stderr=True), after, found)
    errors = _errors(found)
    if errors and not wished.force:
        console = session.console(stderr=True)
        console.print(f"The edit would add {counted(errors, 'error')}, so nothing was written.", style="red")
        console.print("hint: --force writes it all the same.", style="cyan")
    return not errors or wished.force


def _called(finding: Finding, names: tuple[str, str] | None) -> Finding:
    """A finding from before, in the words in which it would be told now."""
    if names is None or names[0] not in finding.subjects:
        return finding
    subjects = tuple(names[1] if subject == names[0] else subject for subject in finding.subjects)
    message = finding.message.replace(*names)
    return msgspec.structs.replace(finding, subjects=subjects, message=message)


def _errors(findings: Iterable[Finding]) -> int:
    return sum(finding.severity is Severity.ERROR for finding in findings)


def _commit(
    repository: "Repository", folder: Path, files: Mapping[str, "Written"], message: str | None
) -> str | None:
    """Commit what was written; where git does not take it, it is as it was before."""
    if message is None:
        return None
    from gitcfg.edit import journal
    from gitcfg.edit.committed import commit
    from gitcfg.git.program import Git

    try:
        return commit(Git(repository, os.environ), repository, files, message)
    except BaseException:
        back = {path: journal.Written(file.text, file.was) for path, file in files.items()}
        journal.write(repository.root, folder, back)
        raise


def _tell(session: Session, files: Mapping[str, "Written"], commit: str | None) -> None:
    for path, file in sorted(files.items()):
        deed = "made" if file.was is None else "deleted" if file.text is None else "changed"
        session.write(f"{deed} {safe(path)}\n")
    if commit is not None:
        session.write(f"committed {commit}\n")
    if not files:
        session.console(stderr=True).print("Nothing changes.")


def tell_left(session: Session, name: str, left: Iterable[Origin]) -> None:
    """Where a name was left as it is."""
    for origin in left:
        session.console(stderr=True).print(f"note: {safe(name)} still stands at {safe(str(origin))}.")
