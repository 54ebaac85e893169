"""Overrides: for whom they hold, until when, and whether what they say counts."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Field, Flag, Kind, Nodes, Summary, Value
from gitcfg.explain.said import files, refs, settings, uses
from gitcfg.model import Override
from gitcfg.render.templates import TemplateEngine


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.overrides):
        found = fleet.model.overrides[name]
        figures = {
            "nodes": len(overridden(fleet, found)),
            "until": str(found.until),
            "past": _past(fleet, found),
        }
        yield Summary(name, found.reason, found.origin, figures)


def _definition(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    found = fleet.model.overrides[name]
    label = f"override {name}"
    fields: dict[str, Field] = {
        "nodes": Nodes(overridden(fleet, found)),
        "until": Value(str(found.until)),
        "past": Flag(_past(fleet, found)),
        "where": Value(found.where.name if found.where else None),
        "features": uses(found.features),
        "without": refs(found.without),
        "settings": settings(fleet, label, found),
        "files": files(fleet, engine, label, found),
    }
    return Definition(name, found.reason, found.origin, fields)


def overridden(fleet: Fleet, found: Override) -> tuple[str, ...]:
    """The nodes that an override applies to, in order of name."""
    return tuple(sorted(name for kind in fleet.classes if found in kind.overrides for name in kind.names))


def _past(fleet: Fleet, found: Override) -> bool:
    return fleet.today > found.until


OVERRIDE = Kind("override", _summaries, lambda fleet: fleet.model.overrides, _definition)
