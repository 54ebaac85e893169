"""Holds: which nodes run which commit meanwhile, why, and until when."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Field, Flag, Kind, Nodes, Summary, Value
from gitcfg.model import Hold
from gitcfg.render.templates import TemplateEngine


def held(fleet: Fleet, found: Hold) -> tuple[str, ...]:
    """The nodes that a hold is about, in order of name, be it over or not."""
    if found.where is not None:
        return tuple(sorted(fleet.select(found.where.name).names))
    return tuple(sorted({name for name in found.members or () if name in fleet}))


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.holds):
        found = fleet.model.holds[name]
        figures = {
            "nodes": len(held(fleet, found)),
            "runs": found.commit.name,
            "until": str(found.until),
            "past": _past(fleet, found),
        }
        yield Summary(name, found.reason, found.origin, figures)


def _definition(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    found = fleet.model.holds[name]
    fields: dict[str, Field] = {
        "nodes": Nodes(held(fleet, found)),
        "runs": Value(found.commit.name),
        "until": Value(str(found.until)),
        "past": Flag(_past(fleet, found)),
        "where": Value(found.where.name if found.where else None),
    }
    return Definition(name, found.reason, found.origin, fields)


def _past(fleet: Fleet, found: Hold) -> bool:
    return fleet.today > found.until


HOLD = Kind("hold", _summaries, lambda fleet: fleet.model.holds, _definition)
