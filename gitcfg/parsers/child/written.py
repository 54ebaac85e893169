"""Whether HTCondor reads a text as it is written: nearly every one, so that this has to be quick.

The text is `NAME = VALUE` lines whose values are known to mean what was meant. What is not read like that is
no finding yet: who asked asks again, with the values, of `condor`, which says what is wrong.
"""

from collections.abc import Iterator
from functools import lru_cache

from gitcfg.parsers.child.circles import circles
from gitcfg.parsers.child.condor import in_its_way
from gitcfg.parsers.child.table import table

_EMPTY, _EMPTY_READ = b" =\n", b" = \n"


def as_written(text: str) -> bool:
    """Is it? One that the parser refuses ends the process."""
    read = table()
    if read is None or ("$" in text and _circular(tuple(_leading(text)))):
        return False
    wanted = text.encode()
    found = read(wanted)
    if found == wanted or found == (wanted := wanted.replace(_EMPTY, _EMPTY_READ)):
        return True
    return _alike(found.decode(errors="backslashreplace"), wanted.decode())


def _leading(text: str) -> Iterator[str]:
    """What circles depend on: lines with macros, those of daemons, and empty ones, whose defaults count."""
    for line in text.split("\n"):
        if "$" in line or line.endswith("=") or "." in line.partition(" ")[0]:
            yield line


@lru_cache(maxsize=256)
def _circular(lines: tuple[str, ...]) -> bool:
    """Classes differ, but hardly in these lines."""
    return any(circles(dict(map(_setting, lines))))


def _setting(line: str) -> tuple[str, str]:
    name, _, value = line.partition(" =")
    return name, value.removeprefix(" ")


def _alike(found: str, wanted: str) -> bool:
    """The same but for what HTCondor has ways of its own with."""
    had, want = set(found.split("\n")), set(wanted.split("\n"))
    other = {name.lower(): value for name, value in map(_setting, had - want)}
    for name, text in map(_setting, want - had):
        read = other.pop(name.lower(), None)
        if read is None or not (read == text or in_its_way(read, name, text)):
            return False
    return not other
