"""The prompt of `gitcfg configure` and its commands."""

from collections.abc import Callable, Mapping

from gitcfg.cli.configure.consequences import follow_up
from gitcfg.cli.configure.conversation import Conversation, WriteResult
from gitcfg.cli.configure.features import add_feature, insert_feature, remove_feature
from gitcfg.cli.configure.memberships import join, leave_group
from gitcfg.cli.configure.parameters import set_param, unset_param
from gitcfg.cli.configure.questions import Back, Left, leave
from gitcfg.cli.configure.terminal import GivenUp
from gitcfg.cli.configure.views import (
    SUBJECTS,
    print_diff,
    print_problems,
    print_reach,
    print_state,
    show,
)
from gitcfg.cli.configure.writing import finish, start_again
from gitcfg.edit.configure import Target
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

_HELP = """\
  a NAME       add a feature, at the end     s PARAM VALUE  set a parameter
  i N NAME     insert it; 0 is the highest   u PARAM        unset it
  r NAME or N  remove a feature              b              undo the last step
  {joins}
  l  show it again    p  problems    d  what changes
  show nodes, parameters, features, groups or snapshots [NAME]
  w  write it         q  leave       ?  this help"""
_JOINS = "j GROUP      join a group                  le GROUP       leave it"
_NODES_JOIN = "j NODES      let nodes join the group      le NODES       let nodes leave it"
_NOTES = """\
Words and names can be shortened to their beginnings. What has a new name can be
created. At each question `?` shows what it wants, `back` leaves it, `quit` leaves
the conversation, and `show` shows the same as here."""
_STEPS: Mapping[str, Callable[[Conversation, str], bool]] = {
    "add": add_feature,
    "insert": insert_feature,
    "remove": remove_feature,
    "set": set_param,
    "unset": unset_param,
    "join": join,
    "leave": leave_group,
}
_WORDS = ("list", *_STEPS, "back", "problems", "diff", "write", "quit", "show", "?")
_ALSO = {"help": "?", "h": "?", "exit": "quit", "done": "write"}


def converse(at: Conversation) -> int:
    """Read commands until the changes are written or discarded; return the exit code."""
    try:
        print_state(at)
        _print_help(at)
        while (code := _round(at)) is None:
            at.close_past()
        return code
    except (GivenUp, KeyboardInterrupt) as left:
        if isinstance(left, KeyboardInterrupt):
            at.talk.tell()
        written = at.find_written()
        at.talk.tell(written.value)
        if isinstance(left, KeyboardInterrupt):
            raise
        return 1 if at.work.steps and written is not WriteResult.WHOLE else 0
    finally:
        at.close()


def _round(at: Conversation) -> int | None:
    """Read a command and run it; return the exit code if it was the last."""
    run = _run_line
    while True:
        try:
            return run(at)
        except Left as left:
            if not left.keeps:
                at.talk.tell("Nothing was changed.")
                return 1 if at.work.steps else 0
            run = finish
        except Back:
            return None
        except GitcfgError as error:
            at.talk.warn(error)
            if changed := at.find_changed():
                start_again(at, changed)
            return None


def _run_line(at: Conversation) -> int | None:
    steps = f", {counted(len(at.work.steps), 'step')}" if at.work.steps else ""
    typed, _, rest = at.talk.ask(f"{safe(at.target.entity)}{steps}>").partition(" ")
    if not typed:
        return None
    typed = _ALSO.get(typed.lower(), typed.lower())
    command = next((word for word in _WORDS if typed and word.startswith(typed)), "")
    if command == "write":
        return finish(at)
    _run_command(at, command, rest.strip())
    return None


def _run_command(at: Conversation, command: str, rest: str) -> None:
    match command:
        case "back":
            _undo(at)
        case "list":
            print_state(at)
        case "problems":
            print_problems(at)
        case "diff":
            print_diff(at)
        case "quit":
            leave(at)
        case "show":
            if not show(at, rest):
                raise GitcfgError(f"Cannot show {safe(rest)}.", f"Use one of: {', '.join(SUBJECTS)}.")
        case "?":
            _print_help(at)
            at.talk.tell(_NOTES, "dim")
        case _ if command in _STEPS:
            _take_step(at, _STEPS[command], rest)
        case _:
            at.talk.tell("Unknown command. `?` lists the commands.")


def _take_step(at: Conversation, take: Callable[[Conversation, str], bool], rest: str) -> None:
    """Do a step, and ask about its consequences."""
    before, steps = at.now, at.work.steps
    try:
        if take(at, rest):
            follow_up(at, before)
        elif at.work.steps != steps:
            print_reach(at)
    except Back:
        if at.work.steps == steps:
            at.talk.tell("Nothing was done.")
        else:
            print_reach(at)


def _undo(at: Conversation) -> None:
    """Undo the last step."""
    if not at.work.steps:
        at.talk.tell("There is no step to undo.")
        return
    at.talk.tell(f"undid: {safe(at.back().words)}", "green")
    print_reach(at)


def _print_help(at: Conversation) -> None:
    at.talk.tell(format_help(at.target), "dim")


def format_help(target: Target) -> str:
    """Return the commands, each with its effect on a target."""
    return _HELP.format(joins=_NODES_JOIN if target.kind == "group" else _JOINS)
