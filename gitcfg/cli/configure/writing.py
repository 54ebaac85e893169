"""The end of `gitcfg configure`: changes are shown once more, written, and committed."""

import os
from collections.abc import Iterable

from gitcfg.cli import findings
from gitcfg.cli.configure.conversation import Conversation, WriteResult
from gitcfg.cli.configure.questions import (
    Back,
    Left,
    Question,
    ask,
    ask_in_turn,
    ask_yes_no,
    choose,
)
from gitcfg.cli.configure.views import find_new_problems, print_diff
from gitcfg.cli.edits import EditOptions, EditResult, print_written, try_edit
from gitcfg.edit.configure import name_snapshot
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out
from gitcfg.git.program import Git
from gitcfg.git.refs import Snapshots
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe


class _Changed(Exception):
    """A file to write was changed in the meantime."""


def finish(at: Conversation) -> int | None:
    """Show the changes, and write them if the user agrees; return the exit code, or None to continue."""
    # Check now, because otherwise it depends on chance whether a change is noticed before or after the
    # question: not everything is read again.
    if changed := at.find_changed():
        start_again(at, changed)
        return None
    print_diff(at)
    if not at.work.draft.files:
        return None
    errors = [finding for finding in find_new_problems(at) if finding.is_error]
    if errors:
        findings.print_findings(at.talk.console, at.now.fleet.tree, errors, at.now.fleet.checked.every)
        if not ask_yes_no(at, f"{counted(len(errors), 'new error')}. Write it anyway?", default=False):
            return None
    git = at.source.repository.git is not None
    commit = {"c": "commit it"} if git else {}
    alone = "write the files without a commit" if git else "write the files"
    while answer := choose(at, {**commit, "w": alone, "": "continue"}):
        try:
            return _write(at, bool(errors), answer == "c")
        except Back:
            continue
    return None


def _write(at: Conversation, force: bool, commit: bool) -> int | None:
    """Write everything, or nothing; the commit becomes a snapshot, if the user wants that."""
    subject = f"Configure {at.target.label}"
    if not commit:
        return 0 if _try_write(at, EditOptions(force)) is not None else None
    taken = [each.name for each in Snapshots(at.source.repository).all()]
    default = name_snapshot(at.target, at.source.today, taken)
    message, snapshot = ask_in_turn(
        at,
        (
            Question(f"Message (Enter: {safe(subject)}):", "The message of the commit.", subject),
            Question(
                f"Snapshot of this commit: a name, y for {default}, or Enter for none:",
                "A snapshot is a name for a commit. `gitcfg snapshot restore NAME` returns to it later.",
            ),
        ),
    )
    done = _try_write(at, EditOptions(force, message))
    if done is None:
        return None
    if done.commit is not None and snapshot.lower() not in ("", "n", "no"):
        chosen = default if snapshot.lower() in ("y", "yes") else snapshot
        _create_snapshot(at, done.commit, chosen, message)
    return 0


def _try_write(at: Conversation, options: EditOptions) -> EditResult | None:
    """Write the changes; if files have changed, do all steps again on their present content."""

    def work(draft: Draft) -> None:
        if changed := sorted(path for path in at.work.draft.files if _is_other(draft, at.work.draft, path)):
            raise _Changed(*changed)
        carry_out(draft, at.work.orders())

    try:
        at.written = WriteResult.BEGUN
        done = try_edit(at.session, work, options)
        if done is not None:
            at.written = WriteResult.WHOLE
            print_written(at.session, done)
            return done
        changed = at.find_changed()
    except _Changed as error:
        changed = error.args
    except GitcfgError as error:
        at.talk.warn(error)
        changed = at.find_changed()
    at.written = WriteResult.NOTHING
    if changed:
        start_again(at, changed)
    return None


def start_again(at: Conversation, changed: Iterable[str]) -> None:
    """Do all steps again on the present files, because they changed in the meantime, and print that."""
    names = ", ".join(map(safe, changed))
    at.talk.tell(f"Someone else changed {names}; nothing was written.", "yellow")
    for step, reason in at.start_again():
        at.talk.tell(f"skipped: {safe(step.words)}", "red")
        at.talk.warn(reason)
    at.talk.tell("Your steps were applied to the new state: check them before you write.")


def _is_other(draft: Draft, shown: Draft, path: str) -> bool:
    """Return whether a file differs from when it was shown."""
    try:
        return draft.original(path) != shown.original(path)
    except GitcfgError:  # it changed during reading
        return True


def _create_snapshot(at: Conversation, commit: str, name: str, message: str) -> None:
    """Create a snapshot of a commit; ask for another name until one is valid. An empty name means none."""
    snapshots, git = Snapshots(at.source.repository), Git(at.source.repository, os.environ)
    question = Question("Another name (Enter: no snapshot):", "The name of the snapshot.")
    while name:
        try:
            found = snapshots.create(git, name, commit, message)
        except GitcfgError as error:
            at.talk.warn(error)
            try:
                name = ask(at, question)
            except (Back, Left):  # everything is written, so there is no question to return to
                return
        else:
            at.session.write(f"snapshot {safe(found.name)} is {found.commit[:ABBREVIATED]}\n")
            return
