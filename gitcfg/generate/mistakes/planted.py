"""Mistakes on purpose: for a code, the few files that make a sound repository have that finding."""

from collections.abc import Iterable, Mapping

from gitcfg.generate.mistakes.of_definitions import DEFINITIONS
from gitcfg.generate.mistakes.of_files import FILES
from gitcfg.generate.mistakes.of_nodes import NODES
from gitcfg.generate.mistakes.of_rules import RULES
from gitcfg.generate.mistakes.planter import Planter
from gitcfg.model import GitcfgError

MISTAKES: Mapping[str, Planter] = {**FILES, **DEFINITIONS, **NODES, **RULES}


def plant_mistakes(codes: Iterable[str]) -> dict[str, str]:
    """The files to add, or to replace, so that these codes are found. GitcfgError: no such mistake."""
    found: dict[str, str] = {}
    for code in codes:
        if code not in MISTAKES:
            raise GitcfgError(f"There is no mistake for {code}.", f"There are {', '.join(MISTAKES)}.")
        found.update(MISTAKES[code]())
    return found
