"""Which names are legal (GC103), and the nearest name to a mistyped one."""

import difflib
import re
from collections.abc import Iterable

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+@-]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
FAMILY = re.compile(r"[A-Za-z_*?][A-Za-z0-9_.*?-]*")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


def shown(text: str, most: int = 60) -> str:
    """A text as a message quotes it: on one line, and not endless."""
    quoted = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return quoted if len(quoted) <= most else quoted[: most - 3] + "..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known name, or nothing."""
    folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold()[:80], folded, n=1, cutoff=0.75)
    begun = [full for start, full in folded.items() if start.startswith(name.casefold())]
    if near or len(begun) == 1:
        return meant(folded[near[0]] if near else begun[0])
    return ""


def meant(name: str) -> str:
    """The hint that a name was meant."""
    return f"Did you mean {name}?"
