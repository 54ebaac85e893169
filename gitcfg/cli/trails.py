"""Trails and values for people, and the cells and columns that other commands print as well."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.compile.operations import TrailStep
from gitcfg.compile.subset import find_withheld
from gitcfg.explain.trail import (
    Blamed,
    Blamer,
    Viewpoint,
    describe_decision,
    describe_layers,
    describe_step,
    format_operation,
    format_step,
    trail_record,
    view_from,
)
from gitcfg.explain.values import NodesWithValue
from gitcfg.library import Fleet, Node
from gitcfg.model import Decision, Origin
from gitcfg.model.delivery import in_words, is_over
from gitcfg.model.secrets import shown
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.nodeset import IN_JSON, abridged


class TrailOptions(msgspec.Struct, frozen=True):
    """What to show of a node's trails: without `names` all parameters, in a line each."""

    names: tuple[str, ...]
    everything: bool
    blamer: Blamer | None
    output: Output


def write_trails(session: Session, fleet: Fleet, node: Node, options: TrailOptions) -> None:
    """Write a node's trails."""
    if options.output is not Output.TEXT:
        trails = {name: node.trail(name, options.everything) for name in options.names or node.params}
        write_record(trail_record(fleet.commit, node.name, trails, options.blamer), options.output)
    elif options.names:
        _print_trails(session.console(), fleet, node, options)
    else:
        _print_overview(session.console(), fleet, node, options.blamer)


def aligned(rows: Sequence[tuple[Text, ...]], widest: int = 48) -> Iterator[Text]:
    """Yield rows in columns. A longer cell pushes the rest of its row aside; nothing is cut off."""
    widths = [
        max((len(cell) for cell in column if len(cell) <= widest), default=0)
        for column in zip(*rows, strict=True)
    ]
    for row in rows:
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * max(0, width - len(cell)) + "  ")
        line.rstrip()
        yield line


def _print_trails(console: Console, fleet: Fleet, node: Node, options: TrailOptions) -> None:
    view = view_from(fleet.compiled, node.name)
    for name in options.names:
        steps = node.explain(name)
        console.print(_headline(node, name))
        for step in steps:
            if options.everything or not step.overridden:
                console.print(_format_step(view, step, options.blamer))
        hidden = 0 if options.everything else sum(step.overridden for step in steps)
        if hidden:
            console.print(Text(f"  ({hidden} overridden; use --all to show them)", "dim"))
        for feature, origin in find_withheld(fleet.compiled, node.name, name):
            where = Text(f"  {feature} would set it too, but `without` removes it ", "dim")
            console.print(where + place_text(origin))


def _headline(node: Node, name: str) -> Text:
    head = Text(safe(name), "bold")
    head.append(f" on {node.name} ", "default")
    if name not in node.params:
        return head + Text("is not bound.")
    value = node.params[name]
    if value is None:
        return head + Text("is bound without a value.")
    return head + Text("is ") + Text(as_text(value), "green")


def _format_step(view: Viewpoint, step: TrailStep, blamer: Blamer | None) -> Text:
    style = "dim strike" if step.overridden else ""
    text = Text("  ")
    text.append(f"{format_step(step):<9}", "dim" if step.overridden else "cyan")
    text.append(f"{as_text(step.given) if step.given is not None else ''}".ljust(24), style)
    text.append(f"  {safe(describe_step(step, view))}", "dim" if step.overridden else "")
    text.append(f"\n  {'':<9}at {safe(str(step.origin))}", "blue")
    if step.overridden:
        text.append("  overridden", "dim")
    elif step.result != step.given:
        text.append(f"  => {as_text(step.result) if step.bound else 'not bound'}", "green")
    text += blame_line(blamer, step.path[0], step.origin, 11)
    for decision in step.decided:
        text += Text("\n") + decision_text(decision, step.origin, blamer, 11)
    return text


def decision_text(decision: Decision, shown_at: Origin, blamer: Blamer | None, indent: int) -> Text:
    """Return which rule leaves something open, and where it is decided, unless that is `shown_at`."""
    start = " " * indent
    text = Text(f"{start}{safe(describe_decision(decision))} ")
    text += Text("at ", "blue") + place_text(decision.asked)
    if decision.origin == shown_at:
        return text
    text += Text(f"\n{start}decided ") + Text("at ", "blue") + place_text(decision.origin)
    return text + blame_line(blamer, f"allocation {decision.rule}", decision.origin, indent)


def blame_line(blamer: Blamer | None, label: str, origin: Origin, indent: int) -> Text:
    """Return who made a layer say what it says at a place, in a line of its own; nothing without blamer."""
    if blamer is None:
        return Text()
    found = blamer.of(label, origin)
    who = f"{'by ' if found else ''}{'  '.join(filter(None, blame_cells(found)))}"
    line = Text(f"\n{' ' * indent}{who}", "magenta")
    return line + Text(f"  {safe(found.subject)}" if found and not found.shallow else "", "dim")


def blame_cells(blamed: Blamed | None) -> tuple[str, str, str]:
    """Return a commit, its date and its author."""
    if blamed is None:
        return "", "", "not committed yet"
    if blamed.shallow:
        ends = "this clone's history ends here; `git fetch --unshallow` gets the rest"
        return f"{blamed.commit[:ABBREVIATED]} or earlier", "", f"unknown: {ends}"
    return blamed.commit[:ABBREVIATED], blamed.date[:10], safe(blamed.author)


def place_text(origin: Origin) -> Text:
    """Return a place, coloured."""
    return Text(safe(str(origin)), "blue")


def as_text(value: Any) -> str:
    """Return a value on one line: text as it is, the rest as JSON; a bare parameter has none."""
    if value is None:
        return "(no value)"
    value = shown(value)
    return safe(value if isinstance(value, str) else msgspec.json.encode(value).decode())


# A node at a glance: every parameter in a line.


def _print_overview(console: Console, fleet: Fleet, node: Node, blamer: Blamer | None) -> None:
    definition, today = fleet.compiled[node.name].definition, fleet.compiled.today
    console.print(Text(node.name, "bold"))
    names_by_noun = {"groups": node.groups, "features": node.features, "labels": definition.labels}
    for noun, names in names_by_noun.items():
        if names:
            console.print(Text(f"  {noun}: ", "dim") + Text(safe(", ".join(names))))
    overrides = [
        Text(f"{safe(one.name)} {in_words(one.until, today)}", "red" if is_over(one.until, today) else "")
        for one in fleet.compiled[node.name].node_class.overrides
    ]
    if overrides:
        console.print(Text("  overrides: ", "dim") + Text(", ").join(overrides))
    if definition.retired:
        console.print(Text("  It is retired: it has no features, no parameters and no files.", "yellow"))
        return
    words = ("parameter", "value", "decided by", "at", *(("commit", "date", "author") if blamer else ()))
    header = tuple(Text(word, "dim") for word in words)
    view = view_from(fleet.compiled, node.name)
    rows = [_row(node, view, name, value, blamer) for name, value in node.params.items()]
    for row in aligned([header, *rows]):
        console.print(row)


def _row(node: Node, view: Viewpoint, name: str, value: Any, blamer: Blamer | None) -> tuple[Text, ...]:
    step = [step for step in node.explain(name) if not step.overridden][-1]
    layers = Text(safe(describe_layers(step, view)))
    cells = (Text(safe(name), "bold"), Text(as_text(value), "green"), layers, place_text(step.origin))
    return cells + (tuple(map(Text, blame_cells(blamer.of(step.path[0], step.origin)))) if blamer else ())


# A parameter's values with their nodes, for eyes.


def print_values(console: Console, param: str, held: Iterable[NodesWithValue], unset: bool) -> None:
    """Print every value with its nodes; with `unset` only those nodes that have none."""
    held = tuple(held)
    bound = [one for one in held if one.bound]
    others = [one for one in held if not one.bound]
    selected = [one for one in bound if one.value is None] if unset else bound
    for one in selected:
        for line in _format_value(param, one):
            console.print(line)
    for one in others:
        text = Text.assemble((safe(param), "bold"), " is not bound")
        console.print(text + Text("" if unset else " (use --unset to show where)", "dim"))
        console.print(_nodes_line(one.nodes) if unset else Text(f"  on {counted(len(one.nodes), 'node')}"))
    if not held:
        console.print(Text("No node is selected."))
    elif unset and not (selected or others):
        console.print(Text.assemble((safe(param), "bold"), " has a value on every node."))


def _format_value(param: str, held: NodesWithValue) -> Iterator[Text]:
    step = held.step
    head = Text(safe(param), "bold")
    if held.value is None:
        yield head + Text(" is bound without a value")
    else:
        yield head + Text(" is ") + Text(as_text(held.value), "green")
    yield _nodes_line(held.nodes)
    if step is not None:
        path = Text(f"  {format_operation(step.op):<8} ", "cyan") + Text(safe(" < ".join(step.path)))
        collected = Text(f", from {safe(abridged(step.nodes, IN_JSON))}") if step.nodes else Text()
        yield path + Text("  at ", "blue") + place_text(step.origin) + collected
        for decision in step.decided:
            line = Text(f"  {safe(describe_decision(decision))} ")
            line += Text("at ", "blue") + place_text(decision.asked)
            if len(held.nodes) > 1:  # each may be decided in a line of its own
                line += Text(", decided ") + Text(f"in {safe(decision.origin.file)}", "blue")
            elif decision.origin != step.origin:
                line += Text(", decided ") + Text("at ", "blue") + place_text(decision.origin)
            yield line


def _nodes_line(nodes: tuple[str, ...]) -> Text:
    return Text(f"  on {counted(len(nodes), 'node')}: ") + Text(safe(abridged(nodes, IN_JSON)), "magenta")
