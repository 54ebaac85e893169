"""HTCondor configuration, by HTCondor's own parser: it accepts a text and reads the same raw values."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.compile.macros import macros
from gitcfg.parsers.child import condor_text
from gitcfg.parsers.child.flat import means
from gitcfg.parsers.child.htcondor import htcondor
from gitcfg.parsers.child.said import Meant, Said, left_out, not_meant, otherwise

_WORDS = frozenset({"true", "false"})


def judge(text: str, meant: Meant | None) -> Iterator[Said]:
    """What is wrong with a text. One that the parser refuses ends the process."""
    read = htcondor()
    found = list(condor_text.judge(text, meant))
    yield from found
    if found or read is None:
        return
    values = read(text)
    if meant is not None:
        yield from _differences(values, meant)


def _differences(found: dict[str, str], meant: Meant) -> Iterator[Said]:
    for name, value in meant.values.items():
        read = found.pop(name.lower(), None)
        if read is None:
            yield left_out(name)
        elif not _is(read, name, value, meant.separators):
            yield otherwise(name, read, value)
    yield from map(not_meant, found)


def _is(read: str, name: str, value: Any, separators: Mapping[str, str | None]) -> bool:
    if means(read, value, separators.get(name)):
        return True
    return in_its_way(read, name, condor_text.text(name, value, separators))


def in_its_way(read: str, name: str, text: str) -> bool:
    """HTCondor keeps the case of its own default, and replaces a name in its own value as it reads it."""
    own = [macro for macro in macros(text) if macro.at_once and macro.body.lower() == name.lower()]
    if not own:
        return text.lower() in _WORDS and read.lower() == text.lower()
    head, tail = text[: own[0].start], text[own[-1].end :]
    return len(read) >= len(head) + len(tail) and read.startswith(head) and read.endswith(tail)
