"""What `gitcfg new`, `modify`, `delete` and `rename` do: edit, judge, write, commit, and tell it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.judged import Renamed, added_errors
from gitcfg.cli.plain import counted, safe
from gitcfg.cli.session import Session
from gitcfg.cli.written import alone, headed, put_down
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.journal import Written
    from gitcfg.edit.left import Left
    from gitcfg.edit.orders import Order


class Wish(msgspec.Struct, frozen=True):
    """How edits are to be made: in spite of errors (`force`), and with which commit, if with one.

    `renamed`: names that are others from now on, one after another, in what was known to be wrong as well.
    """

    force: bool = False
    message: str | None = None
    renamed: tuple[Renamed, ...] = ()


def wish(force: bool, commit: bool, message: str | None, subject: str) -> Wish:
    """What the options say. GitcfgError: a message without a commit."""
    if message is not None and not commit:
        raise GitcfgError(
            "-m is the message of a commit, and none was asked for.", "Say --commit -m MESSAGE."
        )
    return Wish(force, (message or subject) if commit else None)


def edit(session: Session, orders: Sequence["Order"], wished: Wish) -> int:
    """Carry out orders, all or none; 1 if they would add errors, and then nothing is written."""
    from gitcfg.edit.carry import carry_out

    left: list[Left] = []
    renamed = tuple((order.name, order.to) for order in orders if order.to is not None)
    wished = msgspec.structs.replace(wished, renamed=renamed)
    code = carry(
        session, lambda draft: left.extend(carry_out(draft, orders, partial(_last, session))), wished
    )
    if code == 0:
        tell_left(session, left)
    return code


def _last(session: Session, name: str) -> int:
    from gitcfg.edit.formerly import last_version

    return last_version(session.open().repository, name)


class Done(msgspec.Struct, frozen=True):
    """The files that an edit wrote, and its commit."""

    files: Mapping[str, "Written"]
    commit: str | None = None


def carry(session: Session, work: Callable[["Draft"], None], wished: Wish) -> int:
    """Do some work on a draft and write what it makes, all or nothing; 1 if that would add errors."""
    done = carried(session, work, wished)
    if done is None:
        return 1
    tell(session, done)
    return 0


def carried(session: Session, work: Callable[["Draft"], None], wished: Wish) -> Done | None:
    """Do some work on a draft and write what it makes, all or nothing; None, and why, if it adds errors."""
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.journal import Written
    from gitcfg.edit.overlay import OverlayTree

    source = session.open()
    repository = source.repository
    with alone(session, repository) as folder:
        tree = repository.worktree()
        draft = Draft(tree, source.cache)
        work(draft)
        texts = headed(repository, draft)
        files = {path: Written(draft.was(path), text) for path, text in texts.items()}
        if files:
            errors = added_errors(session, source, tree, OverlayTree(tree, texts), wished.renamed)
            if errors and not wished.force:
                _tell_refused(session, errors)
                return None
        return Done(files, put_down(repository, folder, files, wished.message) if files else None)


def _tell_refused(session: Session, errors: int) -> None:
    console = session.console(stderr=True)
    console.print(f"The edit would add {counted(errors, 'error')}, so nothing was written.", style="red")
    console.print("hint: --force writes it all the same.", style="cyan")


def tell(session: Session, done: Done) -> None:
    """What an edit wrote."""
    for path, file in sorted(done.files.items()):
        deed = "made" if file.was is None else "deleted" if file.text is None else "changed"
        session.write(f"{deed} {safe(path)}\n")
    if done.commit is not None:
        session.write(f"committed {done.commit}\n")
    if not done.files:
        session.console(stderr=True).print("Nothing changes.")


def tell_left(session: Session, left: Iterable["Left"]) -> None:
    """Where names stand as they were."""
    for one in left:
        place = safe(str(one.origin))
        session.console(stderr=True).print(f"note: {safe(one.name)} still stands at {place}.")
