"""A definition's fields for eyes: what is empty is left out, nodes are folded."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.text import Text

from gitcfg.cli.trails import aligned, as_text
from gitcfg.cli.winners import Winners, group_alike, layer_name, places_text
from gitcfg.explain.definition import (
    Definition,
    Entry,
    Field,
    Flag,
    Kind,
    Names,
    Nodes,
    Reference,
    Setting,
    Value,
)
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import safe


def field_lines(kind: Kind, found: Definition) -> Iterator[Text]:
    """The lines of a definition's fields, each field's name at its head."""
    nodes = found.fields.get("nodes")
    winners = Winners(kind.name, nodes.names if isinstance(nodes, Nodes) else ())
    for name, field in found.fields.items():
        head = Text(f"  {name.replace('_', ' ')}", "cyan")
        text = _inline(name, field)
        if name == "past" and text is not None:
            verb = "overdue since" if kind.name == "override" else "ended on"
            yield Text(f"  {verb} {as_text(_value(found, 'until'))}", "red")
        elif text is not None:
            yield head + text
        elif isinstance(field, tuple) and field:
            yield head
            yield from (Text("    ") + line for line in _items(winners, field))


def _value(found: Definition, name: str) -> Any:
    field = found.fields[name]
    return field.value if isinstance(field, Value) else None


def _inline(name: str, field: Field) -> Text | None:
    """A field that fits behind its name; None if it does not, or there is nothing to tell."""
    if isinstance(field, Nodes):
        if field.names:
            return Text(f" ({len(field.names)}): ") + Text(safe(abridged(field.names, IN_JSON)), "magenta")
        return Text(": none", "yellow") if name == "nodes" else None
    if isinstance(field, Names):
        names, more, rest = abridged(field.names, IN_JSON).partition(" and ")
        text = names.replace(",", ", ") + more + rest if field.many else ", ".join(field.names)
        return Text(f": {safe(text)}") if field.names else None
    if isinstance(field, Flag):
        return Text("") if field.value else None
    if isinstance(field, Value) and field.value is not None:
        return Text(f": {as_text(field.value)}")
    return None


def _items(
    winners: Winners, items: tuple[Reference, ...] | tuple[Setting, ...] | tuple[Entry, ...]
) -> Iterator[Text]:
    references = [item for item in items if isinstance(item, Reference)]
    settings = [item for item in items if isinstance(item, Setting)]
    entries = [item for item in items if isinstance(item, Entry)]
    yield from _references(references)
    yield from winners.settings(settings)
    yield from winners.entries(entries)


def _references(found: Iterable[Reference]) -> Iterator[Text]:
    rows = []
    for same in group_alike(found, lambda one: one.name, lambda one: one.instances):
        instances = f" as {abridged(same[0].instances, IN_JSON)}" if same[0].instances else ""
        rows.append(
            (
                Text(safe(layer_name(one.name for one in same) + instances)),
                places_text([one.origin for one in same]),
            )
        )
    return aligned(rows)
