"""How shells ask, and what they are told: `gitcfg --complete SHELL ...`."""

from collections.abc import Mapping, Sequence

from gitcfg.cli.complete.answer import answer
from gitcfg.cli.complete.quoting import quoted, split, unquoted


def told(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """The lines for a shell: first how to take the candidates, then each of them.

    bash gives what it will replace, and the line up to the cursor, both as typed. The others give the words
    behind the program's name, the last one as typed; behind a tab they learn what a candidate is.
    """
    shell, *said = arguments
    lines = _for_bash(environ, *said) if shell == "bash" else _for_others(said, environ)
    return "".join(f"{line}\n" for line in lines)


def _for_bash(environ: Mapping[str, str], replaced: str, line: str) -> list[str]:
    """bash replaces the end of a word only: what is behind a quote, `=`, `:` or `@`."""
    words = [word.value for word in split(line)[1:]]
    if not words or not line.endswith(replaced):
        return []
    kept = split(line.removesuffix(replaced))[-1]
    found = answer(words, environ)
    start = len(kept.value)
    return [found.how, *(quoted(candidate.text[start:], kept.quote) for candidate in found.candidates)]


def _for_others(words: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    *before, last = words
    found = answer([*before, unquoted(last)], environ)
    return [found.how, *(f"{text}\t{what}" if what else text for text, what in found.candidates)]
