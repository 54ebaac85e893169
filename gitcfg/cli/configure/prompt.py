"""The prompt of `gitcfg configure` and its commands."""

from collections.abc import Callable, Mapping

from gitcfg.cli.configure.consequences import follow_up
from gitcfg.cli.configure.conversation import Conversation, WriteResult
from gitcfg.cli.configure.features import add_feature, insert_feature, remove_feature
from gitcfg.cli.configure.parameters import set_param, unset_param
from gitcfg.cli.configure.terminal import GivenUp
from gitcfg.cli.configure.views import format_state, print_diff, print_problems, print_reach
from gitcfg.cli.configure.writing import finish, start_again
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

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
        print_problems(at)
    elif command == "diff":
        print_diff(at)
    elif command == "?":
        at.talk.tell(HELP, "dim")
    else:
        at.talk.tell("Unknown command. `?` lists the commands.")


def _quit(at: Conversation) -> int | None:
    if not at.work.steps:
        at.talk.tell("Nothing was changed.")
        return 0
    if not at.talk.agreed(f"Discard {counted(len(at.work.steps), 'step')}?", default=False):
        return None
    at.talk.tell("Nothing was changed.")
    return 1
