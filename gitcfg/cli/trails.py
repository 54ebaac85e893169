"""Trails and values for people, with cells and columns that other commands use, too."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from gitcfg.cli.console import text_width
from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.compile.operations import NOTHING, TrailStep
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
from gitcfg.explain.why import ParamAnswer, absence_record
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


def write_trails(
    session: Session, fleet: Fleet, node: Node, options: TrailOptions, absent: Mapping[str, ParamAnswer]
) -> None:
    """Write a node's trails.

    `absent` has, for parameters that it does not bind, the layers that do elsewhere.
    """
    if options.output is not Output.TEXT:
        trails = {name: node.trail(name, options.everything) for name in options.names or node.params}
        unbound = {name: absence_record(answer) for name, answer in absent.items()}
        record = trail_record(fleet.commit, node.name, trails, options.blamer, unbound)
        write_record(record, options.output)
    elif options.names:
        _print_trails(session.console(), fleet, node, options, absent)
    else:
        _print_overview(session.console(), fleet, node, options.blamer)


def aligned(rows: Sequence[tuple[Text, ...]], widest: int = 48) -> Iterator[Text]:
    """Yield rows in columns. A longer cell shifts the rest of its row; nothing is cut off."""
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


# Lines that fit: pieces that stay whole, or break only in certain places.

_WORDS = re.compile(r" *[^ ]+")
_PHRASES = re.compile(r".+?(?:, | < |$)")
_ITEMS = re.compile(r" *(?:\[[0-9,-]*\]|[^ ,])*,*")
"""A value or a list of nodes breaks at blanks and commas, but not in the brackets of a node set."""


def fill(indent: int, *pieces: Sequence[Text]) -> Text:
    """Return pieces one after another, in lines that fit the terminal: all but the first are indented.

    A piece that does not fit begins a line, and if it is still too long it breaks between its own parts;
    these stay whole, so that names and paths are not cut.
    """
    width, text, column = text_width(), Text(), 0
    for parts in pieces:
        fits = column + _length("".join(part.plain for part in parts)) <= width
        for number, part in enumerate(parts):
            if column > indent and not fits and (number == 0 or column + _length(part.plain) > width):
                text.rstrip()
                text.append("\n" + " " * indent)
                column, part = indent, part[len(part.plain) - len(part.plain.lstrip(" ")) :]
            text.append_text(part)
            column += part.cell_len
    text.rstrip()
    return text


def _length(text: str) -> int:
    """Return the number of columns of a text, without the blanks at its end."""
    return cell_len(text.rstrip(" "))


def _split(pattern: re.Pattern[str], text: Text) -> list[Text]:
    return [text[match.start() : match.end()] for match in pattern.finditer(text.plain) if match[0]]


def phrases(text: str, style: str = "") -> list[Text]:
    """Return a text that may break between its phrases, or a path that may break between its layers."""
    return _split(_PHRASES, Text(safe(text), style))


def words(text: str, style: str = "") -> list[Text]:
    """Return a text that may break between its words."""
    return _split(_WORDS, Text(safe(text), style))


def items(text: str, style: str = "") -> list[Text]:
    """Return a value, or a list of nodes, that may break between its items."""
    return _split(_ITEMS, Text(safe(text), style))


def at(origin: Origin, before: str = "", after: str = "") -> list[Text]:
    """Return a place, which stays whole."""
    return [Text(f"{before}at ", "blue") + place_text(origin) + Text(after)]


# The trail of a parameter, step by step.

_STEP = 11
"""The column in which the value of a step, and everything about it, begins."""
MOST_LAYERS = 10
"""The most layers shown that bind a parameter elsewhere."""


def _print_trails(
    console: Console, fleet: Fleet, node: Node, options: TrailOptions, absent: Mapping[str, ParamAnswer]
) -> None:
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
            where = f"  {feature} would set it too, but `without` removes it"
            console.print(fill(4, words(where, "dim"), at(origin, " ")))
        if name in absent:
            for line in _format_absence(node.name, absent[name]):
                console.print(line)


def _headline(node: Node, name: str) -> Text:
    head = Text(safe(name), "bold")
    if name not in node.params:
        return head.append(f" is not set on {node.name}.", "default")
    head.append(f" on {node.name} ", "default")
    value = node.params[name]
    if value is None:
        return head + Text("is bound without a value.")
    return fill(4, [head + Text("is")], items(f" {as_text(value)}", "green"))


def _format_absence(node: str, found: ParamAnswer) -> Iterator[Text]:
    """Yield the default of a parameter, and the layers that bind it elsewhere."""
    if found.retired:
        yield Text("  The node is retired: it has no features, no parameters and no files.", "yellow")
    yield from default_lines(found)
    layers = [(source.setting.layer, source.setting.origin) for source in found.sources]
    nodes = [(layer.removeprefix("node "), at) for layer, at in layers if is_node(layer)]
    rows = [(layer, at, 0) for layer, at in layers if not is_node(layer)]
    rows += (
        [(f"node {abridged([name for name, _ in nodes], IN_JSON)}", nodes[0][1], len(nodes) - 1)]
        if nodes
        else []
    )
    yield from set_on_lines(found)
    if rows:
        yield Text("  Elsewhere it is bound by:")
    for layer, origin, more in rows[:MOST_LAYERS]:
        others = [Text(f" and {more:,} more", "dim")] if more else []
        yield fill(6, items(f"    {layer}"), at(origin, "  "), others)
    if len(rows) > MOST_LAYERS:
        yield Text(f"    and {len(rows) - MOST_LAYERS:,} more layers ({IN_JSON})")
    if not rows and not found.deciding:
        yield Text("  No layer binds it.")
    elif rows and not found.retired:
        yield fill(
            2, words(f"  `gitcfg explain {node} --why-not {found.name}` shows what would set it here.", "dim")
        )


def is_node(layer: str) -> bool:
    """Return whether a layer's label is that of one node."""
    return layer.startswith("node ") and not layer.startswith("node set ")


def default_lines(found: ParamAnswer) -> Iterator[Text]:
    """Yield the default of a parameter."""
    if found.default is not NOTHING:
        text = f" {as_text(found.default)}"
        yield fill(4, [Text("  Its default, for layers that bind it to null, is")], items(text, "green"))


def set_on_lines(found: ParamAnswer) -> Iterator[Text]:
    """Yield the nodes on which a parameter is set, or has a wanted value."""
    what = "It is set" if found.wanted is None else "It has this value"
    count = len(found.nodes)
    if count:
        nodes = items(abridged(found.nodes, IN_JSON), "magenta")
        yield fill(4, [Text(f"  {what} on {counted(count, 'node')}: "), *nodes])
    else:
        yield Text(f"  {what} on no node.")


def _format_step(view: Viewpoint, step: TrailStep, blamer: Blamer | None) -> Text:
    dim = "dim" if step.overridden else ""
    given = as_text(step.given) if step.given is not None else ""
    text = fill(
        _STEP,
        [Text(f"  {format_step(step):<9}", dim or "cyan")],
        items(given and given.ljust(24) + "  ", "dim strike" if dim else ""),
        phrases(describe_step(step, view), dim),
    )
    after: list[Text] = []
    if step.overridden:
        after = [Text("  overridden", "dim")]
    elif step.result != step.given:
        after = items(f"  => {as_text(step.result) if step.bound else 'not bound'}", "green")
    text += Text("\n") + fill(_STEP, [Text(" " * _STEP)], at(step.origin), after)
    text += blame_line(blamer, step.path[0], step.origin, _STEP)
    if step.fact is not None:
        text += Text("\n") + fill(_STEP, [Text(" " * _STEP)], items("the fact is "), at(step.fact))
    for decision in step.decided:
        text += Text("\n") + decision_text(decision, step.origin, blamer, _STEP)
    return text


def decision_text(decision: Decision, shown_at: Origin, blamer: Blamer | None, indent: int) -> Text:
    """Return which rule leaves something open, and the place of the decision, unless that is `shown_at`."""
    start = [Text(" " * indent)]
    text = fill(indent, start, words(describe_decision(decision)), at(decision.asked, " "))
    if decision.origin == shown_at:
        return text
    text += Text("\n") + fill(indent, start, [Text("decided")], at(decision.origin, " "))
    return text + blame_line(blamer, f"allocation {decision.rule}", decision.origin, indent)


def blame_line(blamer: Blamer | None, label: str, origin: Origin, indent: int) -> Text:
    """Return the commit that last changed a place in a layer, in its own line; nothing without a blamer."""
    if blamer is None:
        return Text()
    found = blamer.of(label, origin)
    who = f"{'by ' if found else ''}{'  '.join(filter(None, blame_cells(found)))}"
    subject = found.subject if found and not found.shallow else ""
    start = [Text(" " * indent)]
    about = words(f"  {subject}" if subject else "", "dim")
    return Text("\n") + fill(indent, start, words(who, "magenta"), about)


def blame_cells(blamed: Blamed | None) -> tuple[str, str, str]:
    """Return a commit, its date and its author."""
    if blamed is None:
        return "", "", "not committed yet"
    if blamed.shallow:
        ends = "this clone's history ends here; `git fetch --unshallow` gets the rest"
        return f"{blamed.commit[:ABBREVIATED]} or earlier", "", f"unknown: {ends}"
    return blamed.commit[:ABBREVIATED], blamed.date[:10], safe(blamed.author)


def place_text(origin: Origin) -> Text:
    """Return a place, in color."""
    return Text(safe(str(origin)), "blue")


def as_text(value: Any) -> str:
    """Return a value on one line: text as it is, the rest as JSON; "" for a bare parameter."""
    if value is None:
        return "(no value)"
    value = shown(value)
    return safe(value if isinstance(value, str) else msgspec.json.encode(value).decode())


# A summary of a node: every parameter in a line.


def _print_overview(console: Console, fleet: Fleet, node: Node, blamer: Blamer | None) -> None:
    definition, today = fleet.compiled[node.name].definition, fleet.compiled.today
    console.print(Text(node.name, "bold"))
    lists = {"groups": node.groups, "features": node.features, "labels": definition.labels}
    for noun, names in lists.items():
        if names:
            console.print(fill(4, [Text(f"  {noun}: ", "dim"), *phrases(", ".join(names))]))
    overrides = [
        Text(f"{safe(one.name)} {in_words(one.until, today)}", "red" if is_over(one.until, today) else "")
        for one in fleet.compiled[node.name].node_class.overrides
    ]
    if overrides:
        console.print(Text("  overrides: ", "dim") + Text(", ").join(overrides))
    if definition.retired:
        console.print(Text("  It is retired: it has no features, no parameters and no files.", "yellow"))
        return
    titles = ("parameter", "value", "decided by", "at", *(("commit", "date", "author") if blamer else ()))
    header = tuple(Text(title, "dim") for title in titles)
    view = view_from(fleet.compiled, node.name)
    rows = [_row(node, view, name, value, blamer) for name, value in node.params.items()]
    table = list(aligned([header, *rows]))
    if max(map(len, table)) <= text_width():
        for line in table:
            console.print(line)
        return
    for name, value, layers, place, *blamed in rows:
        console.print(fill(4, [name], items(f"  {value.plain}", "green")))
        parts = [Text("  ") + cell for cell in blamed if cell]
        console.print(fill(4, phrases(f"    {layers.plain}"), [Text("  at ", "blue") + place], parts))


def _row(node: Node, view: Viewpoint, name: str, value: Any, blamer: Blamer | None) -> tuple[Text, ...]:
    step = [step for step in node.explain(name) if not step.overridden][-1]
    layers = Text(safe(describe_layers(step, view)))
    cells = (Text(safe(name), "bold"), Text(as_text(value), "green"), layers, place_text(step.origin))
    return cells + (tuple(map(Text, blame_cells(blamer.of(step.path[0], step.origin)))) if blamer else ())


# A parameter's values with their nodes, for people.


def print_values(console: Console, param: str, held: Iterable[NodesWithValue], unset: bool) -> None:
    """Print every value with its nodes; with `unset` only the nodes without a value."""
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
        yield fill(4, [head + Text(" is")], items(f" {as_text(held.value)}", "green"))
    yield _nodes_line(held.nodes)
    if step is not None:
        operation = Text(f"  {format_operation(step.op):<8} ", "cyan")
        collected = items(f" from {abridged(step.nodes, IN_JSON)}" if step.nodes else "")
        place = at(step.origin, "  ", "," if collected else "")
        layers = phrases(" < ".join(step.path))
        yield fill(_STEP, [operation], layers, place, collected, *_describe_start(held))
        for decision in step.decided:
            yield _decided_line(decision, step, several=len(held.nodes) > 1)


def _decided_line(decision: Decision, step: TrailStep, several: bool) -> Text:
    """Return what a rule leaves open, and the place of the decision; several nodes may have a line each."""
    decided: list[Text] = []
    if several:
        decided = [Text(" decided ") + Text(f"in {safe(decision.origin.file)}", "blue")]
    elif decision.origin != step.origin:
        decided = at(decision.origin, " decided ")
    asked = at(decision.asked, " ", "," if decided else "")
    return fill(4, words(f"  {describe_decision(decision)}"), asked, decided)


def _describe_start(held: NodesWithValue) -> Iterator[Sequence[Text]]:
    """Yield the number of steps to a value, and the first of several."""
    count, first = counted(len(held.steps), "step"), held.steps[0]
    if held.trails > 1:
        count += f" on {held.nodes[0]} ({held.trails} different trails)"
    if len(held.steps) == 1:
        yield [Text(f"  {safe(count)}", "dim")]
    else:
        yield [*phrases(f"  {count}, from {' < '.join(first.path)}", "dim"), *at(first.origin, "  ")]


def _nodes_line(nodes: tuple[str, ...]) -> Text:
    names = items(abridged(nodes, IN_JSON), "magenta")
    return fill(4, [Text(f"  on {counted(len(nodes), 'node')}: "), *names])
