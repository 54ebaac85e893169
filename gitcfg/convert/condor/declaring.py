"""Declarations of the parameters that hosts set: their defaults, and what comments say of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from gitcfg.convert.condor.factoring import Feature
from gitcfg.convert.condor.host import Host
from gitcfg.convert.condor.shapes import ParameterType
from gitcfg.convert.notes import Note, Place


def declare_parameters(
    types: Mapping[str, ParameterType], defaults: Mapping[str, Any], about: Mapping[str, str]
) -> dict[str, Any]:
    """Every parameter by name; what its comment says counts more than what HTCondor says of it."""
    result = {}
    for key, type_ in types.items():
        words = {"description": about[key]} if key in about else {}
        default = {"default": defaults[key]} if key in defaults else {}
        result[type_.name] = {**words, **type_.declaration, **words, **default}
    return dict(sorted(result.items()))


def collect_descriptions(hosts: Mapping[str, Host], notes: list[Note]) -> dict[str, str]:
    """What the first comment says of each setting, by its name in lower case; others are noted."""
    result: dict[str, str] = {}
    for name in sorted(hosts):
        for setting in hosts[name].settings:
            if setting.about and result.setdefault(setting.key, setting.about) != setting.about:
                reason = "It has another comment already, which describes it; the one above this is left out."
                Place(notes, "line", setting.line.place).dropped(setting.name, reason)
    return result


def collect_defaults(
    features: Sequence[Feature], kinds: Mapping[str, ParameterType], notes: list[Note]
) -> dict[str, Any]:
    """The defaults that annotations declare, where they agree."""
    found: dict[str, list[str]] = {}
    for one in features:
        for key, steps in one.steps.items():
            if steps and steps[-1].default and len(steps) == 1:
                found.setdefault(key, []).append(steps[-1].text)
    for key, texts in found.items():
        if len(set(texts)) > 1:
            reason = "It has several defaults, so they are values: a parameter has one."
            Place(notes, "parameter", kinds[key].name).changed("default", reason)
    return {key: kinds[key].value(texts[0]) for key, texts in found.items() if len(set(texts)) == 1}
