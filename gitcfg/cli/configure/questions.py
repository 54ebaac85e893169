"""The questions of `gitcfg configure`, and the commands that are possible at each of them."""

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.views import SUBJECTS, show
from gitcfg.edit.configure import Match, match_name
from gitcfg.edit.kinds import kind_of
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

_COMMANDS = f"""\
  back         leave this question        quit  leave gitcfg configure
  show [WHAT]  {", ".join(SUBJECTS)}"""
_QUOTES = "  Write an answer that is one of these words in quotes."
_SHORT = {"b": "back", "q": "quit", "exit": "quit"}
"""Short forms of commands, where these words cannot be an answer."""
_YES_NO = "Answer y for yes or n for no; Enter is the one in capitals."
_KEYS = "Answer with one of the keys before the colons."


class Question(msgspec.Struct, frozen=True):
    """A question: its text, the help for it, and the answer for Enter.

    `choices`: the only answers, which may be shortened. `is_yaml`: the answer keeps its quotes.
    """

    text: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()
    is_yaml: bool = False


class Back(Exception):
    """The user leaves a question."""


class Left(Exception):
    """The user leaves the dialog; `keeps`: the changes are to be written."""

    def __init__(self, keeps: bool) -> None:
        super().__init__(keeps)
        self.keeps = keeps


def ask(at: Conversation, question: Question) -> str:
    """Return the answer to a question, after running the commands that are typed before it.

    Raise Back, Left or GivenUp if there is no answer.
    """
    while True:
        line = at.talk.ask(question.text)
        if _run_command(at, line, question.help, _QUOTES):
            continue
        answer = (line if question.is_yaml else unquote(line)) or question.default
        if not question.choices:
            return answer
        if (found := match_name(answer, question.choices).sure) is not None:
            return found
        at.talk.tell(f"Answer one of: {', '.join(question.choices)}.")


def ask_in_turn(at: Conversation, questions: Sequence[Question]) -> list[str]:
    """Return the answers to questions; `back` returns to the question before. Raise Back at the first."""
    answers: list[str] = []
    while len(answers) < len(questions):
        try:
            answers.append(ask(at, questions[len(answers)]))
        except Back:
            if not answers:
                raise
            answers.pop()
    return answers


def ask_yes_no(at: Conversation, question: str, default: bool) -> bool:
    """Return whether the user agrees; Enter means the default, which is in capitals."""
    while True:
        line = at.talk.ask(f"{question} {'[Y/n]' if default else '[y/N]'}").lower()
        if line in ("", "y", "yes", "n", "no"):
            return default if not line else line[0] == "y"
        if not _run_command(at, _SHORT.get(line, line), _YES_NO):
            at.talk.tell("Answer y or n.")


def choose(at: Conversation, choices: Mapping[str, str]) -> str:
    """Return one of several keys, each shown with its meaning; "" is Enter, if it is one of them."""
    at.talk.tell(", ".join(f"{key or 'Enter'}: {what}" for key, what in choices.items()))
    while (line := at.talk.ask(">").lower()) not in choices:
        if not _run_command(at, _SHORT.get(line, line), _KEYS):
            at.talk.tell(f"Answer one of: {', '.join(key or 'Enter' for key in choices)}.")
    return line


def leave(at: Conversation) -> None:
    """Raise Left, unless the user decides to stay."""
    if not at.work.steps:
        raise Left(keeps=False)
    steps = counted(len(at.work.steps), "step")
    at.talk.tell(f"Keep {'this step' if len(at.work.steps) == 1 else f'these {steps}'}?")
    try:
        answer = choose(at, {"y": "show and write the changes", "n": "discard them", "": "do not leave"})
    except Back:
        return
    if answer:
        raise Left(keeps=answer == "y")


def _run_command(at: Conversation, line: str, *help: str) -> bool:
    """Run a command at a question; return False if the line is not one. Raise Back or Left."""
    word, _, rest = line.partition(" ")
    match word.lower():
        case "?" if not rest:
            at.talk.tell("\n".join((help[0], _COMMANDS, *help[1:])), "dim")
        case "back" if not rest:
            raise Back
        case "quit" if not rest:
            leave(at)
        case "show":
            try:
                return show(at, rest)
            except GitcfgError as error:
                at.talk.warn(error)
        case _:
            return False
    return True


def unquote(text: str) -> str:
    """Return a text without the quotes around it."""
    is_quoted = len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
    return text[1:-1] if is_quoted else text


# Names of things, with questions until the meaning is clear.

Create = Callable[[Conversation, str], bool]
"""A function that creates a thing with a name; it returns False if the user leaves that."""


def find_name(
    at: Conversation, noun: str, text: str, known: Collection[str], create: Create | None = None
) -> str | None:
    """Return the name that is meant, which may be of a thing that is created now; None if there is none."""
    question = Question(
        f"Which {noun} (Enter: none):",
        f"The name of a {noun}, or its beginning. A name in quotes is not completed.",
    )
    text = text or ask(at, question)
    while text:
        name = unquote(text)
        found = match_name(name, known)
        if name != text and found.sure != name:
            found = Match(None, (*filter(None, (found.sure,)), *found.near)[:3])
        if found.sure is not None:
            return found.sure
        if found.is_prefix:
            at.talk.tell(f"{len(found.near)} {noun}s begin like this:")
            at.talk.list(found.near)
        elif (chosen := _choose_instead(at, noun, name, found.near, create)) is not None:
            return chosen
        text = ask(at, question)
    return None


def _choose_instead(
    at: Conversation, noun: str, name: str, near: tuple[str, ...], create: Create | None
) -> str | None:
    """Return the user's choice in place of an unknown name; None to enter another name."""
    near_text = f" Did you mean {safe(near[0])}?" if len(near) == 1 else " Did you mean one of these?"
    at.talk.tell(f"There is no {noun} {safe(name)}.{near_text if near else ''}", "red")
    choices = {str(number): safe(each) for number, each in enumerate(near, 1)}
    if create is not None and kind_of(noun).names.fullmatch(name):
        choices["c"] = f"create the {noun} {safe(name)}"
    if not choices:
        return None
    answer = choose(at, {**choices, "": "another name"})
    if answer == "c" and create is not None:
        return name if create(at, name) else None
    return near[int(answer) - 1] if answer else None
