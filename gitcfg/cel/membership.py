"""Conditions that ask of a list only whether some names are in it: what else it holds changes nothing."""

import re
from functools import lru_cache

_BEFORE = r"(?:^|[(?:]|&&|\|\|)\s*"
_NAME = r"""(["'])([A-Za-z0-9_ .+@-]*)\1"""
_AFTER = r"\s*(?=$|[)?:]|&&|\|\|)"
_OTHERWISE = ("\\", "//", '"""', "'''")
"""Escapes, comments and long texts: with these in it a text may not say what it seems to."""


@lru_cache(maxsize=512)
def members_asked(text: str, variable: str) -> frozenset[str] | None:
    """The names that a condition looks for in a list (`"NAME" in node.features`), where it does no more
    with it; None: it may, as far as can be seen without reading it as CEL does.
    """
    if any(sign in text for sign in _OTHERWISE):
        return None
    place = re.escape(variable)
    found = re.findall(rf"{_BEFORE}{_NAME}\s+in\s+{place}{_AFTER}", text)
    # Every place where the list may be named must be one of these, however it is spaced.
    word = variable.rpartition(".")[2]
    return frozenset(name for _, name in found) if len(found) == text.count(word) else None


def plain_features(text: str) -> frozenset[str] | None:
    """The features that an expression asks a node for; None: it may look at all that there are."""
    return members_asked(text, "node.features")
