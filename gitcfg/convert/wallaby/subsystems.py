"""Subsystems with the parameters that concern them."""

from collections.abc import Iterable, Mapping
from typing import Any

from gitcfg.convert.definitions import without_empty
from gitcfg.convert.notes import Note, Place
from gitcfg.convert.wallaby.lists import translate_names
from gitcfg.convert.wallaby.names import Names
from gitcfg.convert.wallaby.store import Subsystem


def convert_subsystems(
    given: Iterable[Subsystem], names: Names, patterns: Mapping[str, str], notes: list[Note]
) -> dict[str, Any]:
    """Every subsystem by name; `patterns` are the families that names have become part of."""
    result = {}
    for subsystem in given:
        place = Place(notes, "subsystem", subsystem.name)
        exact = translate_names(subsystem.params, names.parameter, "params", place)
        params = list(dict.fromkeys(patterns.get(name, name) for name in exact))
        result[names.subsystems[subsystem.name]] = without_empty(
            description=subsystem.annotation, params=params
        )
    if result:
        reason = "A dump says neither where a daemon runs nor how it restarts: add `features` and commands."
        Place(notes, "subsystem", "").look("", reason)
    return dict(sorted(result.items()))
