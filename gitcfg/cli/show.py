"""`gitcfg show`: definitions, what uses them, and where they win."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.text import Text

from gitcfg.cli.declaration import AtOption, FoldedOption, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import aligned, as_text, place_text
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
    Summary,
    Value,
    definition_record,
    summaries_record,
)
from gitcfg.explain.trail import describe_content, format_operation
from gitcfg.library import Fleet
from gitcfg.model import Origin
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged
from gitcfg.render.files import PRIVATE

EPILOG = """Kinds: node, group, feature, parameter, subsystem, nodeset, override, hold, secret, template,
file, setting. Settings that win on no node at all are findings: see `gitcfg check` (GC501).

Examples:

  gitcfg show groups                      all of them, with their features and nodes counted

  gitcfg show parameter START             who binds it, on which nodes that wins, what depends on it

  gitcfg show file /etc/motd --at main    who installs a file (a name without / is one in files/)"""


T = TypeVar("T")
_FEW_FACTS = 20
_MANY = ("parameter", "secret")
"""The kinds that many layers may bind."""


@command(EPILOG, Items("gitcfg.definitions/1", "definitions", "definition"))
def show(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="The kind to show, also in plural or abbreviated.")],
    name: Annotated[str | None, typer.Argument(help="The name; default: all of this kind.")] = None,
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
    folded: FoldedOption = False,
) -> int:
    """Show definitions, where they are used, and on which nodes their values win."""
    from gitcfg.explain.show import define, find_kind

    session: Session = context.obj
    found = find_kind(kind)
    with session.fleet(at) as fleet:
        if name is None:
            write_summaries(session, fleet, found, found.summaries(fleet.compiled), output)
        else:
            definition = define(fleet.compiled, fleet.engine, found, name)
            if output is not Output.TEXT:
                write_record(definition_record(fleet.commit, found, definition, folded), output)
                return 0
            console = session.console()
            for line in format_definition(found, definition):
                console.print(line)
    return 0


def write_summaries(
    session: Session, fleet: Fleet, kind: Kind, summaries: Iterable[Summary], output: Output
) -> None:
    """Write a summary of each definition of a kind, a line each."""
    if output is not Output.TEXT:
        write_record(summaries_record(fleet.commit, kind, summaries), output)
        return
    console = session.console()
    found = _fold_nodes(summaries) if kind.name == "node" else tuple(summaries)
    if not found:
        console.print(Text(f"There is no {kind.name}."))
        return
    columns = {name: [_format_figure(name, one.figures[name]) for one in found] for name in found[0].figures}
    columns["description"] = [safe(one.description.strip().split("\n")[0]) for one in found]
    columns = {name: column for name, column in columns.items() if any(column)}
    rows = [tuple(Text(name, "dim") for name in (kind.name, *columns))]
    for number, one in enumerate(found):
        rows.append((Text(safe(one.name), "bold"), *(Text(column[number]) for column in columns.values())))
    for row in aligned(rows):
        console.print(row)


def _format_figure(name: str, value: Any) -> str:
    if isinstance(value, list) and name == "groups":
        return safe(", ".join(value))
    if isinstance(value, bool) and name != "value":
        return "yes" if value else ""
    return "" if value is None else as_text(value)


def _fold_nodes(nodes: Iterable[Summary]) -> tuple[Summary, ...]:
    """Fold nodes with the same summary into one line."""
    alike: dict[Any, list[Summary]] = {}
    for one in nodes:
        groups, features, retired = one.figures.values()
        alike.setdefault((tuple(groups), features, retired, one.description), []).append(one)
    return tuple(
        Summary(abridged((one.name for one in found), IN_JSON), found[0].description, None, found[0].figures)
        for found in alike.values()
    )


def format_definition(kind: Kind, found: Definition) -> Iterator[Text]:
    """Yield the lines of a definition: its head, and its fields."""
    head = Text(f"{kind.name} ") + Text(safe(found.name), "bold")
    yield head + (Text("  at ", "blue") + place_text(found.origin) if found.origin else Text())
    for line in found.description.strip().splitlines():
        yield Text(f"  {safe(line)}", "italic")
    yield from _format_fields(kind, found)
    if kind.name == "node":
        yield Text(f"  `gitcfg explain {found.name}` shows where each value comes from.", "dim")


class Winners:
    """Formatter of settings and files with the nodes on which they win; `nodes` are all of the definition."""

    def __init__(self, kind: str, nodes: Iterable[str]) -> None:
        self.kind = kind
        self.nodes = frozenset(nodes)

    def settings(self, found: Sequence[Setting]) -> Iterator[Text]:
        """Yield two lines each: the binding; and the place, with the nodes on which it wins."""

        def content(one: Setting) -> Hashable:
            return (
                one.param,
                one.op,
                msgspec.json.encode(one.given, order="deterministic"),
                not one.nodes,
                one.fits,
            )

        folded = group_alike(found, lambda one: one.layer, content)
        rows = [self._cells(same, several=len({one.param for one in found}) > 1) for same in folded]
        for same, row in zip(folded, aligned(rows), strict=True):
            yield row
            fits = "" if same[0].fits else "  does not fit its type"
            place = places_text([one.origin for one in same]) + Text(fits, "red")
            yield Text("  ") + place + self._wins("wins", [name for one in same for name in one.nodes])

    def _cells(self, same: Sequence[Setting], several: bool) -> tuple[Text, ...]:
        one = same[0]
        given = Text(as_text(one.given) if one.given is not None else "", "green")
        cells = [Text(format_operation(one.op)), given]
        if several or self.kind != "parameter":
            cells.insert(0, Text(safe(one.param), "bold"))
        if self.kind in _MANY:
            cells.insert(0, Text(safe(layer_name(one.layer for one in same))))
        return tuple(cells)

    def entries(self, found: Sequence[Entry]) -> Iterator[Text]:
        """Yield three lines each: the file; its source; and the place, with its nodes."""

        def content(one: Entry) -> Hashable:
            entry = one.entry
            return describe_content(entry), entry.path, entry.mode, entry.owner, entry.group

        own = self.kind not in (*_MANY, "template", "file")
        verb = "contains it" if self.kind == "secret" else "decides"
        for same in group_alike(found, lambda one: one.layer, content):
            entry = same[0].entry
            owner = "" if entry.removed else f", mode {entry.mode}, owner {entry.owner}, group {entry.group}"
            layer = "" if own else f" by {layer_name(one.layer for one in same)}"
            yield Text(safe(entry.path), "bold") + Text(safe(layer), "default")
            yield Text(f"  {safe(describe_content(entry) + owner)}")
            nodes = [name for one in same for name in one.nodes]
            private = [name for one in same for name in one.private]
            yield Text("  ") + places_text([one.entry.origin for one in same]) + self._wins(verb, nodes)
            if private:
                mode = f"  mode {PRIVATE}, as it takes a secret, on {counted(len(private), 'node')}: "
                yield Text(mode) + Text(safe(abridged(private, IN_JSON)), "magenta")

    def _wins(self, verb: str, nodes: Sequence[str]) -> Text:
        """Return the nodes on which it wins, in the fewest words."""
        found = frozenset(nodes)
        others = self.nodes - found
        if not found:
            return Text(f"  {verb} on no node", "yellow")
        if len(found) == 1 or not found <= self.nodes or len(others) >= len(found):
            names = Text(safe(abridged(nodes, IN_JSON)), "magenta")
            return Text(f"  {verb} on {counted(len(found), 'node')}: ") + names
        if not others:
            return Text(f"  {verb} on all {len(found)} nodes")
        text = Text(f"  {verb} on {len(found)} of {len(self.nodes)} nodes, not on ")
        return text + Text(safe(abridged(sorted(others), IN_JSON)), "magenta")


def group_alike(
    found: Iterable[T], layer: Callable[[T], str], content: Callable[[T], Hashable]
) -> list[list[T]]:
    """Group nodes whose own files have the same content; everything else is a group of its own."""
    groups: dict[Hashable, list[T]] = {}
    for number, one in enumerate(found):
        label = layer(one)
        own = label.startswith("node ") and not label.startswith("node set ")
        groups.setdefault((content(one),) if own else number, []).append(one)
    return list(groups.values())


def layer_name(labels: Iterable[str]) -> str:
    """Return the name of a layer, or of several nodes' own layers."""
    labels = list(labels)
    if len(labels) == 1:
        return labels[0]
    return f"node {abridged((label.removeprefix('node ') for label in labels), IN_JSON)}"


def places_text(origins: Sequence[Origin]) -> Text:
    """Return a place, or the text for several nodes' own files."""
    if len(origins) == 1:
        return Text("at ", "blue") + place_text(origins[0])
    return Text("in their own files", "blue")


def _format_fields(kind: Kind, found: Definition) -> Iterator[Text]:
    """Yield the lines of a definition's fields, each field with its name first."""
    nodes = found.fields.get("nodes")
    winners = Winners(kind.name, nodes.names if isinstance(nodes, Nodes) else ())
    for name, field in found.fields.items():
        head = Text(f"  {name.replace('_', ' ')}", "cyan")
        text = _inline(name, field)
        if name == "past" and text is not None:
            verb = "overdue since" if kind.name == "override" else "ended on"
            until = found.fields["until"]
            yield Text(f"  {verb} {as_text(until.value if isinstance(until, Value) else None)}", "red")
        elif name == "node_facts" and isinstance(field, Value):
            yield from _node_facts(head, field.value or {})
        elif text is not None:
            yield head + text
        elif isinstance(field, tuple) and field:
            yield head
            for lines in (
                _references([item for item in field if isinstance(item, Reference)]),
                winners.settings([item for item in field if isinstance(item, Setting)]),
                winners.entries([item for item in field if isinstance(item, Entry)]),
            ):
                yield from (Text("    ") + line for line in lines)


def _node_facts(head: Text, by_nodes: Mapping[str, Any]) -> Iterator[Text]:
    """Yield the facts of single nodes, a line for all that share them; if there are many, only the first."""
    if by_nodes:
        yield head
    for nodes, facts in islice(by_nodes.items(), _FEW_FACTS):
        yield Text(f"    {safe(nodes)}", "magenta") + Text(f": {as_text(facts)}")
    if len(by_nodes) > _FEW_FACTS:
        yield Text(f"    and {len(by_nodes) - _FEW_FACTS:,} more ({IN_JSON})")


def _inline(name: str, field: Field) -> Text | None:
    """Return a field that fits in the line of its name; None if it does not, or is empty."""
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


def _references(found: Iterable[Reference]) -> Iterator[Text]:
    rows = []
    for same in group_alike(found, lambda one: one.name, lambda one: one.instances):
        instances = f" as {abridged(same[0].instances, IN_JSON)}" if same[0].instances else ""
        names = Text(safe(layer_name(one.name for one in same) + instances))
        rows.append((names, places_text([one.origin for one in same])))
    return aligned(rows)
