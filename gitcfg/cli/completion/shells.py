"""Shells: how they ask, `gitcfg --complete SHELL ...`, what they are answered, and how they quote words."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gitcfg.cli.completion.candidates import find_candidates

_BLANKS = " \t\n"
_NOT_BARE = re.compile(r"[^A-Za-z0-9_.+@/,:=%-]")
_SPECIAL_IN_QUOTES = '$`"\\'


class Word(NamedTuple):
    """What a word means, and the quote that is still open at its end, if one is."""

    value: str
    quote: str = ""


def split(line: str, blanks: str = _BLANKS) -> list[Word]:
    """Split a line into words; the last is the one at its end, empty behind a blank."""
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
    """Within double quotes a backslash counts only before what is special there."""
    return c if not quote or not c or c in _SPECIAL_IN_QUOTES else f"\\{c}"


def unquote(word: str) -> str:
    """Return what a word means; blanks that are in it belong to it."""
    return split(word, "")[-1].value


def quote_for_bash(text: str, quote: str) -> str:
    """Quote a text so that bash takes it literally where that quote is open."""
    if quote == "'":
        return text.replace("'", "'\\''")
    if quote:
        return "".join(f"\\{c}" if c in _SPECIAL_IN_QUOTES else c for c in text)
    return _NOT_BARE.sub(r"\\\g<0>", text)


def complete(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the lines for a shell: first how to take the candidates, then each of them.

    bash gives what it will replace, and the line up to the cursor, both as typed. The others give the words
    behind the program's name, the last one as typed; what a candidate is follows it behind a tab.
    """
    shell, *words = arguments
    lines = _for_bash(environ, *words) if shell == "bash" else _for_others(words, environ)
    return "".join(f"{line}\n" for line in lines)


def _for_bash(environ: Mapping[str, str], replaced: str, line: str) -> list[str]:
    """bash replaces the end of a word only: what is behind a quote, `=`, `:` or `@`."""
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
