"""The end of `gitcfg configure`: what changes is shown, written, committed, and what was before is named."""

import os
from collections.abc import Iterable

from rich.text import Text

from gitcfg.cli import findings
from gitcfg.cli.changes import safe_line
from gitcfg.cli.configure.after import new_problems, tell_changes
from gitcfg.cli.configure.conversation import Conversation, Written
from gitcfg.cli.edited import Wish, carry
from gitcfg.edit.configure import format_diff
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

_COLOR = {"+": "green", "-": "red", "@": "cyan"}


class _Changed(Exception):
    """Somebody else has changed a file that is to be written."""


def tell_diff(at: Conversation) -> None:
    """What changes in files and on nodes."""
    if not at.work.draft.files:
        at.talk.tell("Nothing is changed yet.")
        return
    for line in format_diff(at.work.draft):
        at.talk.tell(Text(safe_line(line), _COLOR.get(line[:1], "")))
    tell_changes(at)


def finish(at: Conversation) -> int | None:
    """Show what changes, and write it if that is wanted: the exit code; None: go on."""
    # Else it is chance whether that is noticed before or after the question: not all of it is read again.
    if changed := at.stale():
        anew(at, changed)
        return None
    tell_diff(at)
    if not at.work.draft.files:
        return None
    new = new_problems(at)
    errors = sum(each.is_error for each in new)
    if errors:
        grave = [each for each in new if each.is_error]
        findings.show(at.talk.console, at.now.fleet.tree, grave, at.now.fleet.checked.every)
        if not at.talk.agreed(f"{counted(errors, 'new error')}. Write it all the same?", default=False):
            return None
    git = at.source.repository.git is not None
    commit = {"c": "commit it"} if git else {}
    alone = "write the files without a commit" if git else "write the files"
    said = at.talk.choose({**commit, "w": alone, "": "go on", "q": "give up"})
    if said == "q":
        at.talk.tell("Nothing was changed.")
        return 1
    return None if not said else _write(at, bool(errors), said == "c")


def _write(at: Conversation, force: bool, commit: bool) -> int | None:
    """Write everything, or nothing; what was before gets its name afterwards."""
    subject = f"Configure {at.target.label}"
    message = (at.talk.ask(f"Message (Enter: {safe(subject)}):") or subject) if commit else None
    head = _head(at)
    snapshot = ""
    if head is not None:
        snapshot = at.talk.ask(
            f"Keep {head[:ABBREVIATED]}, the last commit, as snapshot (name, or Enter: no):"
        )
    if not _written(at, Wish(force, message)):
        return None
    if head is not None and snapshot:
        _keep(at, head, snapshot, subject)
    return 0


def _written(at: Conversation, wished: Wish) -> bool:
    """Write it; if it cannot be, that is told, and it is done anew to what is there now."""
    try:
        at.written = Written.BEGUN
        if carry(at.session, lambda draft: _carried(at, draft), wished) == 0:
            at.written = Written.WHOLE
            return True
        changed = at.stale()
    except _Changed as error:
        changed = error.args
    except GitcfgError as error:
        at.talk.warn(error)
        changed = at.stale()
    at.written = Written.NOTHING
    if changed:
        anew(at, changed)
    return False


def anew(at: Conversation, changed: Iterable[str]) -> None:
    """Somebody else has changed files: do everything to what is there now, and say so."""
    names = ", ".join(map(safe, changed))
    at.talk.tell(f"Meanwhile somebody has changed {names}; nothing was written.", "yellow")
    for step, reason in at.anew():
        at.talk.tell(f"left out: {safe(step.words)}", "red")
        at.talk.warn(reason)
    at.talk.tell("Your steps were done anew to what is there now: look at them before you write.")


def _carried(at: Conversation, draft: Draft) -> None:
    """Do everything to what lies there now. _Changed: that is not what was shown."""
    mine = at.work.draft
    stale = sorted({path for path in mine.files if _other(draft, mine, path)})
    if stale:
        raise _Changed(*stale)
    carry_out(draft, at.work.orders())


def _other(draft: Draft, mine: Draft, path: str) -> bool:
    """Is a file other than it was when it was shown?"""
    try:
        return draft.original(path) != mine.original(path)
    except GitcfgError:  # it changed while it was read
        return True


def _head(at: Conversation) -> str | None:
    """The last commit; None: there is none."""
    from gitcfg.git.revert import checked_out_commit

    try:
        return checked_out_commit(at.source.repository)
    except GitcfgError:
        return None


def _keep(at: Conversation, head: str, name: str, subject: str) -> None:
    """Name what was before; asked again for a name until there is one that will do."""
    from gitcfg.git.program import Git
    from gitcfg.git.refs import Snapshots

    repository = at.source.repository
    while name:
        try:
            found = Snapshots(repository).create(
                Git(repository, os.environ), name, head, f"Before: {subject}"
            )
        except GitcfgError as error:
            at.talk.warn(error)
            name = at.talk.ask("Another name (Enter: no snapshot):")
            continue
        at.session.write(f"snapshot {safe(found.name)} is {found.commit[:ABBREVIATED]}\n")
        return
