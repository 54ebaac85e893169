"""Trails for eyes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from gitcfg.cli.findings import safe
from gitcfg.compile.trail import TrailStep
from gitcfg.explain.words import told, written
from gitcfg.library import Fleet, Node


def overview(console: Console, fleet: Fleet, node: Node) -> None:
    """A node's groups and features, and each parameter with the layer that decides its value."""
    said = fleet.compiled[node.name].said
    console.print(Text(node.name, "bold"))
    for noun, names in (("groups", node.groups), ("features", node.features), ("labels", said.labels)):
        if names:
            console.print(Text(f"  {noun}: ", "dim") + Text(", ".join(names)))
    if said.retired:
        console.print(Text("  It is retired: it has no features, no parameters and no files.", "yellow"))
        return
    rows = [_row(node, name, value) for name, value in node.params.items()]
    for row in aligned([_HEADER, *rows]):
        console.print(row)


_HEADER = (Text("parameter", "dim"), Text("value", "dim"), Text("decided by", "dim"), Text("at", "dim"))


def _row(node: Node, name: str, value: Any) -> tuple[Text, ...]:
    step = [step for step in node.explain(name) if not step.overridden][-1]
    path, origin = " < ".join(step.path), str(step.origin)
    return Text(name, "bold"), Text(as_text(value), "green"), Text(path), Text(origin, "blue")


def aligned(rows: Sequence[tuple[Text, ...]], widest: int = 48) -> Iterator[Text]:
    """Rows in columns. A longer cell pushes the rest of its row aside; nothing is cut off."""
    widths = [
        max((len(row[i]) for row in rows if len(row[i]) <= widest), default=0) for i in range(len(rows[0]))
    ]
    for row in rows:
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * max(0, width - len(cell)) + "  ")
        line.rstrip()
        yield line


def show(console: Console, fleet: Fleet, node: Node, names: Iterable[str], everything: bool) -> None:
    """Every step of parameters' trails."""
    for name in names:
        steps = node.explain(name)
        console.print(_headline(node, name))
        shown = [step for step in steps if everything or not step.overridden]
        for step in shown:
            console.print(_step(fleet, node, step))
        hidden = len(steps) - len(shown)
        if hidden:
            console.print(Text(f"  ({hidden} overridden; --all shows them)", "dim"))
        for feature, origin in fleet.compiled.withheld(node.name, name):
            where = Text(f"  {feature} would bind it too, but `without` takes it away ", "dim")
            console.print(where + Text(str(origin), "blue"))


def _headline(node: Node, name: str) -> Text:
    head = Text(name, "bold")
    head.append(f" on {node.name} ", "default")
    if name not in node.params:
        return head + Text("is not bound.")
    value = node.params[name]
    if value is None:
        return head + Text("is bound without a value.")
    return head + Text("is ") + Text(as_text(value), "green")


def _step(fleet: Fleet, node: Node, step: TrailStep) -> Text:
    style = "dim strike" if step.overridden else ""
    default = fleet.compiled.model.settings.default_group
    text = Text("  ")
    text.append(f"{written(step):<9}", "dim" if step.overridden else "cyan")
    text.append(f"{as_text(step.given) if step.given is not None else ''}".ljust(24), style)
    text.append(f"  {safe(told(step, node.name, default))}", "dim" if step.overridden else "")
    text.append(f"\n  {'':<9}at {step.origin}", "blue")
    if step.overridden:
        text.append("  overridden", "dim")
    elif step.result != step.given:
        text.append(f"  => {as_text(step.result) if step.bound else 'not bound'}", "green")
    return text


def as_text(value: Any) -> str:
    """A value on one line: text as it is, the rest as JSON; a bare parameter has none."""
    if value is None:
        return "(no value)"
    return safe(value if isinstance(value, str) else msgspec.json.encode(value).decode())
