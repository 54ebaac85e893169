"""Edits of definitions: made on a draft, judged, written and committed, all or nothing."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.session import Session
from gitcfg.model import Finding, GitcfgError
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from gitcfg.edit.decision import Decision
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.orders import Order
    from gitcfg.edit.rename import Leftover
    from gitcfg.edit.transaction import FileChange
    from gitcfg.git.repository import Repository
    from gitcfg.git.tree import Tree
    from gitcfg.library import Source

Renamed = tuple[str, str]
"""A name, and the one in its place from now on."""


class EditOptions(msgspec.Struct, frozen=True):
    """How edits are to be made: in spite of errors (`force`), and with which commit, if with one.

    `solve`: what rules leave open is decided then, in the same change; None: the command has no such option.
    `renamed`: names that are others from now on, one after another, in what was known to be wrong as well.
    """

    force: bool = False
    message: str | None = None
    solve: bool | None = None
    renamed: tuple[Renamed, ...] = ()


class EditResult(msgspec.Struct, frozen=True):
    """The files that an edit wrote, and its commit."""

    files: Mapping[str, "FileChange"]
    commit: str | None = None


def make_options(
    force: bool, commit: bool, message: str | None, subject: str, solve: bool | None = None
) -> EditOptions:
    """Return what the options say. Raise GitcfgError for a message without a commit."""
    if message is not None and not commit:
        raise GitcfgError(
            "-m is the message of a commit, and none was asked for.", "Say --commit -m MESSAGE."
        )
    return EditOptions(force, (message or subject) if commit else None, solve)


def carry_out_orders(session: Session, orders: Sequence["Order"], wished: EditOptions) -> int:
    """Carry out orders, all or none; return 1 and write nothing if they would add errors."""
    from gitcfg.edit.orders import carry_out
    from gitcfg.edit.secrets import find_last_version

    left: list[Leftover] = []
    renamed = tuple((order.name, order.to) for order in orders if order.to is not None)
    wished = msgspec.structs.replace(wished, renamed=renamed)

    def last_version(name: str) -> int:
        return find_last_version(session.open().repository, name)

    code = apply_edit(session, lambda draft: left.extend(carry_out(draft, orders, last_version)), wished)
    if code == 0:
        print_left(session, left)
    return code


def apply_edit(session: Session, work: Callable[["Draft"], None], wished: EditOptions) -> int:
    """Do some work on a draft and write what it makes, all or nothing; return 1 if it would add errors."""
    done = try_edit(session, work, wished)
    if done is None:
        return 1
    print_written(session, done)
    return 0


def try_edit(
    session: Session,
    work: Callable[["Draft"], None],
    wished: EditOptions,
    shows: "Callable[[Decision], None] | None" = None,
) -> EditResult | None:
    """Do some work on a draft and write what it makes, all or nothing.

    If it would add errors, print them and return None.
    `shows` gets what is decided with it before anything is written, or why nothing can be.
    """
    from gitcfg.edit.draft import Draft, OverlayTree
    from gitcfg.edit.transaction import FileChange

    source = session.open()
    repository = source.repository
    with exclusive_edit(session, repository) as folder:
        if wished.solve and wished.message is not None:
            from gitcfg.edit.decision import refuse_uncommitted

            refuse_uncommitted(repository)
        tree = repository.worktree()
        draft = Draft(tree, source.cache)
        work(draft)
        if wished.solve and not _decided(session, draft, shows):
            return None
        texts = with_schema_lines(repository, draft)
        files = {path: FileChange(draft.original(path), text) for path, text in texts.items()}
        if files:
            added = find_added(session, source, tree, OverlayTree(tree, texts), wished.renamed)
            if any(finding.is_error for finding in added) and not wished.force:
                _print_refused(session, added, wished)
                return None
        return EditResult(files, write_files(repository, folder, files, wished.message) if files else None)


def _decided(session: Session, draft: "Draft", shows: "Callable[[Decision], None] | None") -> bool:
    """Decide for a draft what rules leave open, and show it; return whether there is an answer."""
    from gitcfg.cli.decisions import print_decision
    from gitcfg.edit.decision import decide_draft

    decision = decide_draft(draft, session.open().today)
    if shows is not None:
        shows(decision)
        return decision.holds
    if decision.changes or not decision.holds:
        print_decision(session, decision)
    if not decision.holds:
        session.console(stderr=True).print("Nothing was written.", style="red")
    return decision.holds


def _print_refused(session: Session, added: "Iterable[Finding]", wished: EditOptions) -> None:
    from gitcfg.check.rules.base import SOLVE

    errors = [finding for finding in added if finding.is_error]
    console = session.console(stderr=True)
    console.print(f"The edit would add {counted(len(errors), 'error')}, so nothing was written.", style="red")
    if wished.solve is False and any(SOLVE in finding.hint for finding in errors):
        console.print("hint: --solve decides what the edit leaves open, in the same change.", style="cyan")
    console.print("hint: --force writes it all the same.", style="cyan")


def find_added(
    session: Session, source: "Source", before: "Tree", after: "Tree", renamed: Iterable[Renamed]
) -> tuple[Finding, ...]:
    """Print and return what is wrong after an edit and was not before.

    Where nothing is wrong afterwards the state before is not checked.
    """
    from gitcfg.check.results import unlike
    from gitcfg.library import Fleet

    renamed = tuple(renamed)
    base = source.repository.before(before)
    with Fleet(after, base, source.today, source.cache) as new:
        every, veils = new.findings, new.checked.every
    if not every:
        return ()
    with Fleet(before, base, source.today, source.cache) as old:
        known = tuple(_called(finding, renamed) for finding in old.findings)
    # GC507: the end has just been written by this edit.
    found = tuple(finding for finding in unlike(every, known) if finding.code != "GC507")
    if found:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), after, found, veils)
    return found


def _called(finding: Finding, renamed: Iterable[Renamed]) -> Finding:
    """Return a finding from before as it would be worded now."""
    for old, new in renamed:
        if old in finding.subjects:
            subjects = tuple(new if subject == old else subject for subject in finding.subjects)
            message = finding.message.replace(old, new)
            finding = msgspec.structs.replace(finding, subjects=subjects, message=message)
    return finding


@contextmanager
def exclusive_edit(session: Session, repository: "Repository") -> Iterator[Path]:
    """Lock out other edits, and give the folder of the journal; an interrupted edit is finished first."""
    from gitcfg.edit import transaction

    folder = _journal_folder(repository)
    with transaction.lock(folder):
        for path in transaction.finish(repository.root, folder):
            session.console(stderr=True).print(
                f"finished an interrupted edit of {safe(path)}", style="yellow"
            )
        yield folder


def _journal_folder(repository: "Repository") -> Path:
    """Return git's own folder; without git, a hidden one. Raise GitcfgError if there is no work tree."""
    if repository.git is None:
        folder = repository.root / ".gitcfg"
        folder.mkdir(exist_ok=True)
        return folder
    if not repository.git.workdir:
        raise GitcfgError(f"{repository.root} has no work tree.", "Edit a clone of it.")
    return Path(repository.git.path)


def with_schema_lines(repository: "Repository", draft: "Draft") -> dict[str, bytes | None]:
    """Return a draft's files; a new one names its schema, where `gitcfg schema` has written one."""
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
    repository: "Repository", folder: Path, files: Mapping[str, "FileChange"], message: str | None
) -> str | None:
    """Write files and, with a message, commit them; where git refuses, all is as it was before."""
    from gitcfg.edit import transaction
    from gitcfg.git.program import Git

    transaction.write_files(repository.root, folder, files)
    if message is None:
        return None
    try:
        return transaction.commit_files(Git(repository, os.environ), repository, files, message)
    except BaseException:
        back = {path: transaction.FileChange(file.text, file.was) for path, file in files.items()}
        transaction.write_files(repository.root, folder, back)
        raise


def print_written(session: Session, done: EditResult) -> None:
    """Print what an edit wrote."""
    for path, file in sorted(done.files.items()):
        deed = "made" if file.was is None else "deleted" if file.text is None else "changed"
        session.write(f"{deed} {safe(path)}\n")
    if done.commit is not None:
        session.write(f"committed {done.commit}\n")
    if not done.files:
        session.console(stderr=True).print("Nothing changes.")


def print_left(session: Session, left: Iterable["Leftover"]) -> None:
    """Print where a renamed thing's old name still stands."""
    for one in left:
        place = safe(str(one.origin))
        session.console(stderr=True).print(f"note: {safe(one.name)} still stands at {place}.")
