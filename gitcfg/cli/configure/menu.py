"""The prompt of `gitcfg configure`: what may be said, and what is done about it."""

from collections.abc import Callable, Mapping

from gitcfg.cli import findings
from gitcfg.cli.configure.after import follow_up, new_problems, tell_reach
from gitcfg.cli.configure.conversation import Conversation, Written
from gitcfg.cli.configure.features import add, insert, remove
from gitcfg.cli.configure.finish import anew, finish, tell_diff
from gitcfg.cli.configure.params import set_, unset
from gitcfg.cli.configure.shown import shown
from gitcfg.cli.configure.talk import GivenUp
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

HELP = """\
  a NAME       add a feature, at the end     s PARAM VALUE  set a parameter
  i N NAME     insert it; 0 is the highest   u PARAM        unset it
  r NAME or N  remove a feature              b              take back a step
  l  show it    p  problems    d  what changes
  w  write it   q  give up     ?  this help"""
_STEPS: Mapping[str, Callable[[Conversation, str], bool]] = {
    "add": add,
    "insert": insert,
    "remove": remove,
    "set": set_,
    "unset": unset,
}
_WORDS = (*_STEPS, "back", "list", "problems", "diff", "write", "quit", "?")
_ALSO = {"help": "?", "h": "?", "show": "list", "exit": "quit", "done": "write"}


def converse(at: Conversation) -> int:
    """Listen until it is written or given up: the exit code."""
    try:
        at.talk.lines(shown(at.now, at.work.draft))
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
        return 1 if at.work.steps and at.written is not Written.WHOLE else 0
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
            anew(at, stale)
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
        at.talk.lines(shown(at.now, at.work.draft))
    elif said == "problems":
        _problems(at)
    elif said == "diff":
        tell_diff(at)
    elif said == "?":
        at.talk.tell(HELP, "dim")
    else:
        at.talk.tell("`?` shows what may be said.")


def _back(at: Conversation) -> None:
    if not at.work.steps:
        at.talk.tell("There is no step to take back.")
        return
    at.talk.tell(f"took back: {safe(at.back().words)}", "green")
    tell_reach(at)


def _problems(at: Conversation) -> None:
    """What is wrong with what is configured and was not before, and how much is wrong besides."""
    new = new_problems(at)
    findings.show(at.talk.console, at.now.fleet.tree, new, at.now.fleet.checked.every)
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
