"""ClassAd expressions, by HTCondor's own parser: what a daemon would log as invalid and go on without."""

import re
from collections.abc import Callable, Iterator
from ctypes import c_char_p, c_int
from functools import cache

from gitcfg.compile.macros import Expansion
from gitcfg.parsers.child.htcondor import bindings, symbol
from gitcfg.parsers.child.said import Meant, Said

_BACKSLASH = re.compile(r'\\(?!"(?!\s*\Z))')


def judge(text: str, meant: Meant | None) -> Iterator[Said]:
    """Say so if a text is no expression, with the macros in it that HTCondor has defaults for.

    Nothing is said of one with other macros, nor of one that is empty.
    """
    find = defaults()
    whole = Expansion(find, find).of(text) + "\n"  # which may end a comment
    if "$" not in whole and whole.strip() and not (parses(whole) or parses(_as_configured(whole))):
        yield Said("is not taken by HTCondor's own parser")


def parses(text: str) -> bool:
    """Is it an expression?"""
    from classad2 import ClassAdException, ExprTree  # type: ignore[import-untyped]

    try:
        ExprTree(text)
    except (ClassAdException, ValueError):  # it holds a NUL
        return False
    return True


def _as_configured(text: str) -> str:
    """Escape backslashes: in configuration only one before a quote is special, unless both end the text."""
    return _BACKSLASH.sub(r"\\\\", text)


@cache
def defaults() -> Callable[[str], str | None]:
    """What finds the raw default of a name in lower case in HTCondor's own table; None: it has none."""
    library = bindings()
    name = symbol(library, "_Z24param_default_name_by_idi", c_char_p, c_int)
    value = symbol(library, "_Z26param_default_rawval_by_idi", c_char_p, c_int)
    found: dict[str, str] = {}
    number = 0
    while key := name(number):
        raw = value(number)
        if raw is not None:
            found[key.decode().lower()] = raw.decode(errors="replace")
        number += 1
    return found.get
