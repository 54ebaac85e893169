"""The prompt of `gitcfg configure`: its commands, and the end, where changes are shown and written."""

import os
from collections.abc import Callable, Iterable, Mapping

from rich.text import Text

from gitcfg.cli import findings
from gitcfg.cli.changes import safe_line
from gitcfg.cli.configure.dialogue import Conversation, GivenUp, WriteResult
from gitcfg.cli.configure.steps import (
    add_feature,
    find_new_problems,
    follow_up,
    format_state,
    insert_feature,
    print_reach,
    remove_feature,
    set_param,
    unset_param,
)
from gitcfg.cli.edits import EditOptions, apply_edit
from gitcfg.edit.configure import format_diff
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out
from gitcfg.git.revert import checked_out_commit
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

HELP = """\
  a NAME       add a feature, at the end     s PARAM VALUE  set a parameter
  i N NAME     insert it; 0 is the highest   u PARAM        unset it
  r NAME or N  remove a feature              b              undo a step
  l  show it    p  problems    d  what changes
  w  write it   q  discard     ?  this help"""
_STEPS: Mapping[str, Callable[[Conversation, str], bool]] = {
    "add": add_feature,
    "insert": insert_feature,
    "remove": remove_feature,
    "set": set_param,
    "unset": unset_param,
}
_WORDS = (*_STEPS, "back", "list", "problems", "diff", "write", "quit", "?")
_ALSO = {"help": "?", "h": "?", "show": "list", "exit": "quit", "done": "write"}
_COLOR = {"+": "green", "-": "red", "@": "cyan"}


def converse(at: Conversation) -> int:
    """Read commands until the changes are written or given up; return the exit code."""
    try:
        at.talk.lines(format_state(at.now, at.work.draft))
        at.talk.tell(HELP, "dim")
        while (code := _round(at)) is None:
            at.close_past()
        return code
    except (GivenUp, KeyboardInterrupt) as left:
        if isinstance(left, KeyboardInterrupt):
            at.talk.tell()
        at.talk.tell(at.written.value)
        if isinstance(left, KeyboardInterrupt):
            raise
        return 1 if at.work.steps and at.written is not WriteResult.WHOLE else 0
    finally:
        at.close()


def _round(at: Conversation) -> int | None:
    """Read a command and do it; return the exit code, if it was the last."""
    steps = f", {counted(len(at.work.steps), 'step')}" if at.work.steps else ""
    typed, _, rest = at.talk.ask(f"{safe(at.target.entity)}{steps}>").partition(" ")
    typed = _ALSO.get(typed.lower(), typed.lower())
    command = next((word for word in _WORDS if typed and word.startswith(typed)), "")
    if command == "quit":
        return _quit(at)
    try:
        if command == "write":
            return finish(at)
        _run_command(at, command, rest.strip())
    except GitcfgError as error:
        at.talk.warn(error)
        if changed := at.find_changed():
            start_again(at, changed)
    return None


def _run_command(at: Conversation, command: str, rest: str) -> None:
    before = at.now
    if command in _STEPS:
        if _STEPS[command](at, rest):
            follow_up(at, before)
    elif command == "back" and not at.work.steps:
        at.talk.tell("There is no step to undo.")
    elif command == "back":
        at.talk.tell(f"undid: {safe(at.back().words)}", "green")
        print_reach(at)
    elif command == "list":
        at.talk.lines(format_state(at.now, at.work.draft))
    elif command == "problems":
        _print_problems(at)
    elif command == "diff":
        print_diff(at)
    elif command == "?":
        at.talk.tell(HELP, "dim")
    else:
        at.talk.tell("Unknown command. `?` lists the commands.")


def _print_problems(at: Conversation) -> None:
    """Print what is wrong that was not before, and how much is wrong besides."""
    new = find_new_problems(at)
    findings.print_findings(at.talk.console, at.now.fleet.tree, new, at.now.fleet.checked.every)
    older = len(at.now.findings) - len(new)
    besides = f" {counted(older, 'problem')} from before: `gitcfg check` shows them." if older else ""
    at.talk.tell(f"{counted(len(new), 'new problem')}.{besides}")


def _quit(at: Conversation) -> int | None:
    if not at.work.steps:
        at.talk.tell("Nothing was changed.")
        return 0
    if not at.talk.agreed(f"Discard {counted(len(at.work.steps), 'step')}?", default=False):
        return None
    at.talk.tell("Nothing was changed.")
    return 1


def print_diff(at: Conversation) -> None:
    """Print what changes in files and on nodes."""
    if not at.work.draft.files:
        at.talk.tell("Nothing is changed yet.")
        return
    for line in format_diff(at.work.draft):
        at.talk.tell(Text(safe_line(line), _COLOR.get(line[:1], "")))
    print_reach(at, whole=True)


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
