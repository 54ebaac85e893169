"""Definitions for eyes: all of a kind as a table, or one in full."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.text import Text

from gitcfg.cli.fields import field_lines
from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import aligned, as_text, place_text
from gitcfg.explain.definition import Definition, Kind, Summary, definition_record, summaries_record
from gitcfg.library import Fleet
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import safe


def write_summaries(
    session: Session, fleet: Fleet, kind: Kind, summaries: Iterable[Summary], output: Output
) -> None:
    """Write everything of a kind, a line each."""
    if output is not Output.TEXT:
        write_record(summaries_record(fleet.commit, kind, summaries), output)
        return
    console = session.console()
    found = _folded(summaries) if kind.name == "node" else tuple(summaries)
    if not found:
        console.print(Text(f"There is no {kind.name}."))
        return
    for row in aligned(list(_table(kind, found))):
        console.print(row)


def _table(kind: Kind, found: tuple[Summary, ...]) -> Iterator[tuple[Text, ...]]:
    """A row for each, under a header; columns that would be empty are left out."""
    columns = {name: [_figure(name, one.figures[name]) for one in found] for name in found[0].figures}
    columns["description"] = [safe(one.description.strip().split("\n")[0]) for one in found]
    columns = {name: column for name, column in columns.items() if any(column)}
    yield tuple(Text(name, "dim") for name in (kind.name, *columns))
    for number, one in enumerate(found):
        yield Text(safe(one.name), "bold"), *(Text(column[number]) for column in columns.values())


def _figure(name: str, value: Any) -> str:
    if isinstance(value, list) and name == "groups":
        return safe(", ".join(value))
    if isinstance(value, bool) and name != "value":
        return "yes" if value else ""
    return "" if value is None else as_text(value)


def _folded(nodes: Iterable[Summary]) -> tuple[Summary, ...]:
    """Nodes that differ in nothing that is told of them, in one line."""
    alike: dict[Any, list[Summary]] = {}
    for one in nodes:
        groups, features, retired = one.figures.values()
        alike.setdefault((tuple(groups), features, retired, one.description), []).append(one)
    return tuple(
        Summary(abridged((one.name for one in found), IN_JSON), found[0].description, None, found[0].figures)
        for found in alike.values()
    )


def write_definition(
    session: Session, fleet: Fleet, kind: Kind, found: Definition, output: Output, folded: bool
) -> None:
    """Write one definition in full."""
    if output is not Output.TEXT:
        write_record(definition_record(fleet.commit, kind, found, folded), output)
        return
    console = session.console()
    for line in _full(kind, found):
        console.print(line)


def _full(kind: Kind, found: Definition) -> Iterator[Text]:
    head = Text(f"{kind.name} ") + Text(safe(found.name), "bold")
    yield head + (Text("  at ", "blue") + place_text(found.origin) if found.origin else Text())
    for line in found.description.strip().splitlines():
        yield Text(f"  {safe(line)}", "italic")
    yield from field_lines(kind, found)
    if kind.name == "node":
        yield Text(f"  `gitcfg explain {found.name}` tells where each value comes from.", "dim")
