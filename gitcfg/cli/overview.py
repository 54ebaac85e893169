"""A node at a glance: every parameter in a line."""

from typing import Any

from rich.console import Console
from rich.text import Text

from gitcfg.cli.plain import safe
from gitcfg.cli.trails import aligned, as_text, placed, who
from gitcfg.explain.blamed import Blamer
from gitcfg.explain.words import by
from gitcfg.library import Fleet, Node


def overview(console: Console, fleet: Fleet, node: Node, blamer: Blamer | None) -> None:
    """A node's groups and features, and each parameter with the layer that decides its value."""
    said = fleet.compiled[node.name].said
    console.print(Text(node.name, "bold"))
    for noun, names in (("groups", node.groups), ("features", node.features), ("labels", said.labels)):
        if names:
            console.print(Text(f"  {noun}: ", "dim") + Text(safe(", ".join(names))))
    if said.retired:
        console.print(Text("  It is retired: it has no features, no parameters and no files.", "yellow"))
        return
    words = ("parameter", "value", "decided by", "at", *(("commit", "date", "author") if blamer else ()))
    header = tuple(Text(word, "dim") for word in words)
    rows = [_row(node, name, value, blamer) for name, value in node.params.items()]
    for row in aligned([header, *rows]):
        console.print(row)


def _row(node: Node, name: str, value: Any, blamer: Blamer | None) -> tuple[Text, ...]:
    step = [step for step in node.explain(name) if not step.overridden][-1]
    made = tuple(map(Text, who(blamer.of(step.path[0], step.origin)))) if blamer else ()
    layers = safe(by(step))
    return Text(safe(name), "bold"), Text(as_text(value), "green"), Text(layers), placed(step.origin), *made
