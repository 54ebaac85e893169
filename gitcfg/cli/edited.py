"""What `gitcfg new`, `modify`, `delete` and `rename` do: edit, judge, write, commit, and tell it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.judged import Renamed, find_added
from gitcfg.cli.session import Session
from gitcfg.cli.written import exclusive_edit, with_schema_lines, write_files
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from gitcfg.edit.decision import Decision
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.orders import Order
    from gitcfg.edit.rename import Leftover
    from gitcfg.edit.transaction import FileChange
    from gitcfg.model import Finding


class EditOptions(msgspec.Struct, frozen=True):
    """How edits are to be made: in spite of errors (`force`), and with which commit, if with one.

    `solve`: what rules leave open is decided then, as part of the same change; None: nobody can ask for it.
    `renamed`: names that are others from now on, one after another, in what was known to be wrong as well.
    """

    force: bool = False
    message: str | None = None
    solve: bool | None = None
    renamed: tuple[Renamed, ...] = ()


def edit_options(
    force: bool, commit: bool, message: str | None, subject: str, solve: bool | None = None
) -> EditOptions:
    """What the options say. GitcfgError: a message without a commit."""
    if message is not None and not commit:
        raise GitcfgError(
            "-m is the message of a commit, and none was asked for.", "Say --commit -m MESSAGE."
        )
    return EditOptions(force, (message or subject) if commit else None, solve)


def carry_out_orders(session: Session, orders: Sequence["Order"], wished: EditOptions) -> int:
    """Carry out orders, all or none; 1 if they would add errors, and then nothing is written."""
    from gitcfg.edit.orders import carry_out

    left: list[Leftover] = []
    renamed = tuple((order.name, order.to) for order in orders if order.to is not None)
    wished = msgspec.structs.replace(wished, renamed=renamed)
    code = apply_edit(
        session, lambda draft: left.extend(carry_out(draft, orders, partial(_last, session))), wished
    )
    if code == 0:
        print_left(session, left)
    return code


def _last(session: Session, name: str) -> int:
    from gitcfg.edit.secrets import find_last_version

    return find_last_version(session.open().repository, name)


class EditResult(msgspec.Struct, frozen=True):
    """The files that an edit wrote, and its commit."""

    files: Mapping[str, "FileChange"]
    commit: str | None = None


def apply_edit(session: Session, work: Callable[["Draft"], None], wished: EditOptions) -> int:
    """Do some work on a draft and write what it makes, all or nothing; 1 if that would add errors."""
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
    """Do some work on a draft and write what it makes, all or nothing; None, and why, if it adds errors.

    `shows` is told what is decided with it before anything is written, and why nothing can be.
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
        files = {path: Written(draft.was(path), text) for path, text in texts.items()}
        if files:
            added = find_added(session, source, tree, OverlayTree(tree, texts), wished.renamed)
            if any(finding.is_error for finding in added) and not wished.force:
                _tell_refused(session, added, wished)
                return None
        return EditResult(files, write_files(repository, folder, files, wished.message) if files else None)


def _decided(session: Session, draft: "Draft", shows: "Callable[[Decision], None] | None") -> bool:
    """Decide for a draft what rules leave open, and show it; is there an answer?"""
    from gitcfg.cli.solve import print_decision
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


def _tell_refused(session: Session, added: "Iterable[Finding]", wished: EditOptions) -> None:
    from gitcfg.check.rules.base import SOLVE

    errors = [finding for finding in added if finding.is_error]
    console = session.console(stderr=True)
    console.print(f"The edit would add {counted(len(errors), 'error')}, so nothing was written.", style="red")
    if wished.solve is False and any(SOLVE in finding.hint for finding in errors):
        console.print("hint: --solve decides what the edit leaves open, in the same change.", style="cyan")
    console.print("hint: --force writes it all the same.", style="cyan")


def print_written(session: Session, done: EditResult) -> None:
    """What an edit wrote."""
    for path, file in sorted(done.files.items()):
        deed = "made" if file.was is None else "deleted" if file.text is None else "changed"
        session.write(f"{deed} {safe(path)}\n")
    if done.commit is not None:
        session.write(f"committed {done.commit}\n")
    if not done.files:
        session.console(stderr=True).print("Nothing changes.")


def print_left(session: Session, left: Iterable["Left"]) -> None:
    """Where names stand as they were."""
    for one in left:
        place = safe(str(one.origin))
        session.console(stderr=True).print(f"note: {safe(one.name)} still stands at {place}.")
