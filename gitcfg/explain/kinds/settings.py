"""The repository's settings: what gitcfg.yaml says, and what is taken where it says nothing."""

from collections.abc import Iterator

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Kind, Summary, Value
from gitcfg.model import Settings
from gitcfg.render.templates import TemplateEngine

_NAMES = tuple(name for name in Settings.__struct_fields__ if name != "origin")


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    for name in _NAMES:
        yield Summary(name, "", fleet.model.settings.origin, {"value": _value(fleet, name)})


def _definition(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    return Definition(name, "", fleet.model.settings.origin, {"value": Value(_value(fleet, name))})


def _value(fleet: Fleet, name: str) -> object:
    return msgspec.to_builtins(getattr(fleet.model.settings, name))


SETTING = Kind("setting", _summaries, lambda fleet: _NAMES, _definition)
