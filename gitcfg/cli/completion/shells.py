"""The answer to a shell that calls `gitcfg --complete SHELL ...`: candidates, quoted for it."""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitcfg.cli.completion import grammar
from gitcfg.cli.completion.grammar import Place, find_place
from gitcfg.cli.completion.names import KINDS, Names

_BEFORE_LAST = {
    "revision": re.compile(r".*\.\.\.?"),  # A..B
    "members": re.compile(r".*,(?![^\[\]]*\])"),  # exec01,exec02
}
_NEVER = re.compile(r"(?!)")
_EXPLANATIONS = os.path.join(os.path.dirname(__file__), "..", "..", "check", "explanations")
_MOST = 2000
_STEMS = 100
_BY_SHELL = {"file": "files", "folder": "folders"}
_BLANKS = " \t\n"
_NOT_BARE = re.compile(r"[^A-Za-z0-9_.+@/,:=%-]")
_SPECIAL_IN_QUOTES = '$`"\\'


class Candidate(NamedTuple):
    """The whole word as it would be, and one line about it."""

    text: str
    help: str = ""


class Answer(NamedTuple):
    """Candidates, and how the shell uses them.

    `how` is `words`, or `stems` of names that are too many to list; or the shell completes `files` or
    `folders`.
    """

    how: str
    candidates: tuple[Candidate, ...] = ()


def find_candidates(words: Sequence[str], environ: Mapping[str, str]) -> Answer:
    """Return the candidates for the last of the words after the program's name."""
    known = grammar.read()
    place = find_place(known.program, words)
    if place.value is None:
        return Answer("words", tuple(_of_program(place, words[-1])))
    kinds = _kinds(place)
    by_shell = next((_BY_SHELL[kind] for kind in kinds if kind in _BY_SHELL), None)
    if by_shell is not None:
        return Answer(by_shell)
    head = place.head + _head(words[-1][len(place.head) :], kinds)
    prefix = words[-1][len(head) :]
    found = {*place.value.choices, *(_topics(known.program, place.before) if "topic" in kinds else ())}
    found |= Names(_folder(place, environ), known.names, prefix).of(kinds)
    names, whole = shorten(found, prefix)
    if "entity" in kinds and any(name.endswith("/") for name in names):  # `group/` continues
        whole = False
    return Answer("words" if whole else "stems", tuple(Candidate(head + name) for name in names))


def _of_program(place: Place, word: str) -> Iterator[Candidate]:
    """Yield commands, and options that are not there yet."""
    if not word.startswith("-"):
        for name, command in place.command.commands.items():
            if name.startswith(word):
                yield Candidate(name, command.help)
        if place.command.commands:
            return
    for option in place.command.options:
        if option.many or place.options.isdisjoint(option.names):
            for name in option.names:
                if name.startswith(word or "--"):
                    yield Candidate(name, option.help)


def _kinds(place: Place) -> tuple[str, ...]:
    """Return the kinds of names possible there.

    The first word decides the kind of NAME: `show group NAME`.
    """
    kinds = place.value.kinds if place.value is not None else ()
    if "named" not in kinds or not place.before:
        return kinds
    word = place.before[0].lower()
    said = {"file": "path"}.get(word.removesuffix("s"), word.removesuffix("s"))
    return (said,) if said in KINDS else tuple(kind for kind in sorted(KINDS) if kind.startswith(said))


def _head(word: str, kinds: Sequence[str]) -> str:
    """Return the part of a word that is a complete name already, before another one begins."""
    found = [match[0] for kind in kinds if (match := _BEFORE_LAST.get(kind, _NEVER).match(word))]
    return max(found, key=len, default="")


def _folder(place: Place, environ: Mapping[str, str]) -> str:
    """Return the repository's folder, expanded like a shell does."""
    folder = place.repo or environ.get("GITCFG_REPO") or "."
    return os.path.expandvars(os.path.expanduser(folder))


def _topics(program: grammar.Command, before: Sequence[str]) -> list[str]:
    """Return the topics of help: commands after the words of a group, findings' codes, and their list."""
    codes = [] if before else ["codes", *(name.removesuffix(".md") for name in os.listdir(_EXPLANATIONS))]
    for word in before:
        program = program.commands.get(word, grammar.Command(""))
    return [*program.commands, *codes]


def shorten(names: Collection[str], prefix: str) -> tuple[list[str], bool]:
    """Return the names that begin with a prefix, in order; if they are too many, only longer prefixes.

    Upper and lower case are the same only if no name has the prefix exactly. The flag is False for prefixes.
    """
    low = prefix.casefold()
    found = {name for name in names if name.startswith(prefix)}
    found = found or {name for name in names if name.casefold().startswith(low)}
    if len(found) <= _MOST:
        return sorted(found), True
    return sorted(_stems(found, len(prefix))), False


def _stems(names: set[str], length: int) -> set[str]:
    """Return the longest prefixes of equal length whose number is small enough."""
    longer = stems = {name[: length + 1] for name in names}
    while len(longer) <= _STEMS:
        stems = longer
        length += 1
        longer = {name[: length + 1] for name in names}
    return stems


class Word(NamedTuple):
    """The meaning of a word, and the quote that is still open at its end, if one is."""

    value: str
    quote: str = ""


def split(line: str, blanks: str = _BLANKS) -> list[Word]:
    """Split a line into words; the last is the one at its end, empty after a blank."""
    words: list[Word] = []
    value: list[str] | None = None
    quote = ""
    characters = iter(line)
    for c in characters:
        if not quote and c in blanks:
            words += [Word("".join(value))] if value is not None else []
            value = None
            continue
        value = [] if value is None else value
        if c == quote:
            quote = ""
        elif not quote and c in "\"'":
            quote = c
        else:
            value.append(_escaped(next(characters, ""), quote) if c == "\\" and quote != "'" else c)
    return [*words, Word("".join(value or ()), quote)]


def _escaped(c: str, quote: str) -> str:
    """Return an escaped character. Within double quotes a backslash escapes only special characters."""
    return c if not quote or not c or c in _SPECIAL_IN_QUOTES else f"\\{c}"


def unquote(word: str) -> str:
    """Return the meaning of a word; blanks in it belong to it."""
    return split(word, "")[-1].value


def quote_for_bash(text: str, quote: str) -> str:
    """Quote a text so that bash takes it literally where that quote is open."""
    if quote == "'":
        return text.replace("'", "'\\''")
    if quote:
        return "".join(f"\\{c}" if c in _SPECIAL_IN_QUOTES else c for c in text)
    return _NOT_BARE.sub(r"\\\g<0>", text)


def complete(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the lines for a shell: first how to use the candidates, then each of them.

    bash sends the text that it will replace, and the line up to the cursor, both as typed. Other shells send
    the words after the program's name, the last one as typed; they get a candidate's description after a tab.
    """
    shell, *words = arguments
    lines = _for_bash(environ, *words) if shell == "bash" else _for_others(words, environ)
    return "".join(f"{line}\n" for line in lines)


def _for_bash(environ: Mapping[str, str], replaced: str, line: str) -> list[str]:
    """Return the lines for bash, which replaces only the end of a word: after a quote, `=`, `:` or `@`."""
    words = [word.value for word in split(line)[1:]]
    if not words or not line.endswith(replaced):
        return []
    kept = split(line.removesuffix(replaced))[-1]
    found = find_candidates(words, environ)
    start = len(kept.value)
    return [
        found.how,
        *(quote_for_bash(candidate.text[start:], kept.quote) for candidate in found.candidates),
    ]


def _for_others(words: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    *before, last = words
    found = find_candidates([*before, unquote(last)], environ)
    return [found.how, *(f"{text}\t{what}" if what else text for text, what in found.candidates)]
