"""What may stand at the cursor: candidates for the last of some words."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gitcfg.cli.complete import grammar
from gitcfg.cli.complete.few import few
from gitcfg.cli.complete.names import KINDS, Names
from gitcfg.cli.complete.place import Place, find

_BEFORE_LAST = {
    "revision": re.compile(r".*\.\.\.?"),  # A..B
    "members": re.compile(r".*,(?![^\[\]]*\])"),  # exec01,exec02
}
_EXPLANATIONS = os.path.join(os.path.dirname(__file__), "..", "..", "check", "explanations")
_BY_SHELL = {"file": "files", "folder": "folders"}


class Candidate(NamedTuple):
    """The whole word as it would be, and in a line what that is."""

    text: str
    help: str = ""


class Answer(NamedTuple):
    """Candidates, and how to take them.

    They are `words`, or `stems` of names that are too many to list; or the shell knows: `files`, `folders`.
    """

    how: str
    candidates: tuple[Candidate, ...] = ()


def answer(words: Sequence[str], environ: Mapping[str, str]) -> Answer:
    """The candidates for the last of the words behind the program's name."""
    known = grammar.read()
    place = find(known.program, words)
    if place.value is None:
        return Answer("words", tuple(_of_program(place, words[-1])))
    kinds = _kinds(place)
    by_shell = next((_BY_SHELL[kind] for kind in kinds if kind in _BY_SHELL), None)
    if by_shell is not None:
        return Answer(by_shell)
    head = place.head + _head(words[-1][len(place.head) :], kinds)
    prefix = words[-1][len(head) :]
    found = {*place.value.choices, *(_codes() if "code" in kinds else ())}
    found |= Names(_folder(place, environ), known.names, prefix).of(kinds)
    names, whole = few(found, prefix)
    if "entity" in kinds and any(name.endswith("/") for name in names):  # `group/` goes on
        whole = False
    return Answer("words" if whole else "stems", tuple(Candidate(head + name) for name in names))


def _of_program(place: Place, word: str) -> Iterator[Candidate]:
    """Commands, and options that are not said yet."""
    if not word.startswith("-"):
        for name, command in place.command.commands.items():
            if name.startswith(word):
                yield Candidate(name, command.help)
        if place.command.commands:
            return
    for option in place.command.options:
        if option.many or place.said.isdisjoint(option.names):
            for name in option.names:
                if name.startswith(word or "--"):
                    yield Candidate(name, option.help)


def _kinds(place: Place) -> tuple[str, ...]:
    """The kinds of names that may stand there. What a NAME is, the first word says: `show groups NAME`."""
    kinds = place.value.kinds if place.value is not None else ()
    if "named" not in kinds or not place.before:
        return kinds
    word = place.before[0].lower()
    said = {"file": "path"}.get(word.removesuffix("s"), word.removesuffix("s"))
    return (said,) if said in KINDS else tuple(kind for kind in sorted(KINDS) if kind.startswith(said))


def _head(word: str, kinds: Sequence[str]) -> str:
    """What of a word is a name that is there already, before another one begins."""
    found = [match[0] for kind in kinds if (match := _BEFORE_LAST.get(kind, _NEVER).match(word))]
    return max(found, key=len, default="")


_NEVER = re.compile(r"(?!)")


def _folder(place: Place, environ: Mapping[str, str]) -> str:
    """Where the repository is, as the shell would have it."""
    said = place.repo or environ.get("GITCFG_REPO") or "."
    return os.path.expandvars(os.path.expanduser(said))


def _codes() -> list[str]:
    """The findings' codes: each has its explanation."""
    return [name.removesuffix(".md") for name in os.listdir(_EXPLANATIONS)]
