"""The end of `gitcfg configure`: changes are shown once more, written, and committed."""

import os
from collections.abc import Iterable

from gitcfg.cli import findings
from gitcfg.cli.configure.conversation import Conversation, WriteResult
from gitcfg.cli.configure.views import find_new_problems, print_diff
from gitcfg.cli.edits import EditOptions, apply_edit
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out
from gitcfg.git.revert import checked_out_commit
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe


class _Changed(Exception):
    """A file that is to be written was changed in the meantime."""


def finish(at: Conversation) -> int | None:
    """Show what changes, and write it if the user agrees; return the exit code, or None to go on."""
    # Else it is chance whether that is noticed before or after the question: not all of it is read again.
    if changed := at.find_changed():
        start_again(at, changed)
        return None
    print_diff(at)
    if not at.work.draft.files:
        return None
    errors = [finding for finding in find_new_problems(at) if finding.is_error]
    if errors:
        findings.print_findings(at.talk.console, at.now.fleet.tree, errors, at.now.fleet.checked.every)
        if not at.talk.agreed(f"{counted(len(errors), 'new error')}. Write it anyway?", default=False):
            return None
    git = at.source.repository.git is not None
    commit = {"c": "commit it"} if git else {}
    alone = "write the files without a commit" if git else "write the files"
    answer = at.talk.choose({**commit, "w": alone, "": "continue", "q": "discard"})
    if answer == "q":
        at.talk.tell("Nothing was changed.")
        return 1
    return _write(at, bool(errors), answer == "c") if answer else None


def _write(at: Conversation, force: bool, commit: bool) -> int | None:
    """Write everything, or nothing; the last commit becomes a snapshot afterwards, if the user wants that."""
    subject = f"Configure {at.target.label}"
    message = (at.talk.ask(f"Message (Enter: {safe(subject)}):") or subject) if commit else None
    try:
        head = checked_out_commit(at.source.repository)
    except GitcfgError:  # there is no commit
        head = snapshot = ""
    else:
        question = f"Name for a snapshot of {head[:ABBREVIATED]}, the last commit (Enter: none):"
        snapshot = at.talk.ask(question)
    if not _try_write(at, EditOptions(force, message)):
        return None
    _create_snapshot(at, head, snapshot, subject)
    return 0


def _try_write(at: Conversation, options: EditOptions) -> bool:
    """Write it; if that fails because files have changed, do all steps again to what is there now."""

    def work(draft: Draft) -> None:
        if changed := sorted(path for path in at.work.draft.files if _is_other(draft, at.work.draft, path)):
            raise _Changed(*changed)
        carry_out(draft, at.work.orders())

    try:
        at.written = WriteResult.BEGUN
        if apply_edit(at.session, work, options) == 0:
            at.written = WriteResult.WHOLE
            return True
        changed = at.find_changed()
    except _Changed as error:
        changed = error.args
    except GitcfgError as error:
        at.talk.warn(error)
        changed = at.find_changed()
    at.written = WriteResult.NOTHING
    if changed:
        start_again(at, changed)
    return False


def start_again(at: Conversation, changed: Iterable[str]) -> None:
    """Do all steps again to what is there now, because files were changed in the meantime, and print that."""
    names = ", ".join(map(safe, changed))
    at.talk.tell(f"Someone else changed {names}; nothing was written.", "yellow")
    for step, reason in at.start_again():
        at.talk.tell(f"skipped: {safe(step.words)}", "red")
        at.talk.warn(reason)
    at.talk.tell("Your steps were applied to the new state: check them before you write.")


def _is_other(draft: Draft, shown: Draft, path: str) -> bool:
    """Return whether a file is another one than when it was shown."""
    try:
        return draft.original(path) != shown.original(path)
    except GitcfgError:  # it changed while it was read
        return True


def _create_snapshot(at: Conversation, head: str, name: str, subject: str) -> None:
    """Create a snapshot of a commit; ask for another name until one will do. An empty name is none."""
    from gitcfg.git.program import Git
    from gitcfg.git.refs import Snapshots

    git = Git(at.source.repository, os.environ)
    while name:
        try:
            found = Snapshots(at.source.repository).create(git, name, head, f"Before: {subject}")
        except GitcfgError as error:
            at.talk.warn(error)
            name = at.talk.ask("Another name (Enter: no snapshot):")
        else:
            at.session.write(f"snapshot {safe(found.name)} is {found.commit[:ABBREVIATED]}\n")
            return
