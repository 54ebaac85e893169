"""The repository's settings: what gitcfg.yaml says, and what is taken where it says nothing."""

from collections.abc import Iterator

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Kind, Summary, Value
from gitcfg.model import Ignore, Release, Settings
from gitcfg.model.text import duration
from gitcfg.render.templates import TemplateEngine

_NAMES = tuple(name for name in Settings.__struct_fields__ if name != "origin")


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    for name in _NAMES:
        yield Summary(name, "", fleet.model.settings.origin, {"value": _value(fleet, name)})


def _definition(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    return Definition(name, "", fleet.model.settings.origin, {"value": Value(_value(fleet, name))})


def _value(fleet: Fleet, name: str) -> object:
    said = getattr(fleet.model.settings, name)
    if name == "walk_in" and said is not None:
        return {"groups": [ref.name for ref in said]}
    if name == "ignore":
        return [_ignore(entry) for entry in said]
    return _release(said) if isinstance(said, Release) else msgspec.to_builtins(said)


def _ignore(said: Ignore) -> object:
    found = {"code": said.code, "subject": said.subject, "reason": said.reason, "until": said.until}
    return {key: str(value) for key, value in found.items() if value is not None}


def _release(said: Release) -> object:
    return {
        "stages": [stage.written for stage in said.stages],
        "settle": duration(said.settle),
        "max_failures": said.max_failures,
        "first": said.first.name if said.first else None,
    }


SETTING = Kind("setting", _summaries, lambda fleet: _NAMES, _definition)
