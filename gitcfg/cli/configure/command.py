"""`gitcfg configure`: the prompt, its commands, and the end, where changes are shown and written."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

import typer
from rich.text import Text

from gitcfg.cli import findings
from gitcfg.cli.changes import safe_line
from gitcfg.cli.configure.dialogue import Conversation, GivenUp, WriteResult, check_terminal, open_talk
from gitcfg.cli.configure.edits import add_feature, insert_feature, remove_feature, set_param, unset_param
from gitcfg.cli.configure.output import find_new_problems, follow_up, format_state, print_changes, print_reach
from gitcfg.cli.declaration import command
from gitcfg.cli.edits import EditOptions, apply_edit
from gitcfg.cli.session import Session
from gitcfg.edit.configure import find_target, format_diff
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

EPILOG = """It asks on a terminal, shows after each step what that means, and writes nothing until you say so.

Examples:

  gitcfg configure exec001.example.com    a node

  gitcfg configure group/Workers          a group; say so where a node has the same name

  gitcfg configure nodeset/exec           all nodes of a set at once"""
_WHAT = typer.Argument(
    help="A node, group or node set; group/NAME and so on where it is not clear.", metavar="NODE|GROUP"
)
HELP = """\
  a NAME       add a feature, at the end     s PARAM VALUE  set a parameter
  i N NAME     insert it; 0 is the highest   u PARAM        unset it
  r NAME or N  remove a feature              b              take back a step
  l  show it    p  problems    d  what changes
  w  write it   q  give up     ?  this help"""
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


@command(EPILOG)
def configure(context: typer.Context, what: Annotated[str, _WHAT]) -> int:
    """Configure a node or group in a conversation: features, the values they need, and what changes."""
    session: Session = context.obj
    check_terminal()
    source = session.open()
    with source.worktree() as fleet:
        found = find_target(fleet.model, what)
        return converse(Conversation(session, source, open_talk(session), found, fleet))


def converse(at: Conversation) -> int:
    """Read commands until the changes are written or given up; return the exit code."""
    try:
        at.talk.lines(format_state(at.now, at.work.draft))
        at.talk.tell(HELP, "dim")
        while (code := _round(at)) is None:
            at.settled()
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
    """One thing that is said; the exit code, if it was the last."""
    steps = f", {counted(len(at.work.steps), 'step')}" if at.work.steps else ""
    word, _, rest = at.talk.ask(f"{safe(at.target.entity)}{steps}>").partition(" ")
    said = _word(word)
    if said == "quit":
        return _quit(at)
    try:
        if said == "write":
            return finish(at)
        _do(at, said, rest.strip())
    except GitcfgError as error:
        at.talk.warn(error)
        stale = at.stale()
        if stale:
            start_anew(at, stale)
    return None


def _word(typed: str) -> str:
    """The command that a word is, or begins."""
    typed = _ALSO.get(typed.lower(), typed.lower())
    return next((word for word in _WORDS if typed and word.startswith(typed)), "")


def _do(at: Conversation, said: str, rest: str) -> None:
    before = at.now
    if said in _STEPS:
        if _STEPS[said](at, rest):
            follow_up(at, before)
    elif said == "back":
        _back(at)
    elif said == "list":
        at.talk.lines(format_state(at.now, at.work.draft))
    elif said == "problems":
        _problems(at)
    elif said == "diff":
        print_diff(at)
    elif said == "?":
        at.talk.tell(HELP, "dim")
    else:
        at.talk.tell("`?` shows what may be said.")


def _back(at: Conversation) -> None:
    if not at.work.steps:
        at.talk.tell("There is no step to take back.")
        return
    at.talk.tell(f"took back: {safe(at.back().words)}", "green")
    print_reach(at)


def _problems(at: Conversation) -> None:
    """What is wrong with what is configured and was not before, and how much is wrong besides."""
    new = find_new_problems(at)
    findings.print_findings(at.talk.console, at.now.fleet.tree, new, at.now.fleet.checked.every)
    older = len(at.now.findings) - len(new)
    besides = f" {counted(older, 'problem')} of before: `gitcfg check` tells." if older else ""
    at.talk.tell(f"{counted(len(new), 'new problem')}.{besides}")


def _quit(at: Conversation) -> int | None:
    if not at.work.steps:
        at.talk.tell("Nothing was changed.")
        return 0
    if not at.talk.agreed(f"Give up {counted(len(at.work.steps), 'step')}?", default=False):
        return None
    at.talk.tell("Nothing was changed.")
    return 1


def print_diff(at: Conversation) -> None:
    """What changes in files and on nodes."""
    if not at.work.draft.files:
        at.talk.tell("Nothing is changed yet.")
        return
    for line in format_diff(at.work.draft):
        at.talk.tell(Text(safe_line(line), _COLOR.get(line[:1], "")))
    print_changes(at)


class _Changed(Exception):
    """Somebody else has changed a file that is to be written."""


def finish(at: Conversation) -> int | None:
    """Show what changes, and write it if that is wanted: the exit code; None: go on."""
    # Else it is chance whether that is noticed before or after the question: not all of it is read again.
    if changed := at.stale():
        start_anew(at, changed)
        return None
    print_diff(at)
    if not at.work.draft.files:
        return None
    new = find_new_problems(at)
    errors = sum(each.is_error for each in new)
    if errors:
        grave = [each for each in new if each.is_error]
        findings.print_findings(at.talk.console, at.now.fleet.tree, grave, at.now.fleet.checked.every)
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
    if not _written(at, EditOptions(force, message)):
        return None
    if head is not None and snapshot:
        _keep(at, head, snapshot, subject)
    return 0


def _written(at: Conversation, wished: EditOptions) -> bool:
    """Write it; if it cannot be, that is told, and it is done anew to what is there now."""
    try:
        at.written = WriteResult.BEGUN
        if apply_edit(at.session, lambda draft: _carried(at, draft), wished) == 0:
            at.written = WriteResult.WHOLE
            return True
        changed = at.stale()
    except _Changed as error:
        changed = error.args
    except GitcfgError as error:
        at.talk.warn(error)
        changed = at.stale()
    at.written = WriteResult.NOTHING
    if changed:
        start_anew(at, changed)
    return False


def start_anew(at: Conversation, changed: Iterable[str]) -> None:
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
    """Return whether a file is another one than when it was shown."""
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
