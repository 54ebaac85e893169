"""A node at a glance: every parameter in a line."""

from typing import Any

from rich.console import Console
from rich.text import Text

from gitcfg.cli.trails import aligned, as_text, blame_cells, place_text
from gitcfg.explain.trail import Blamer, Viewpoint, by, viewpoint
from gitcfg.library import Fleet, Node
from gitcfg.model.delivery import in_words, is_over
from gitcfg.model.text import safe


def print_overview(console: Console, fleet: Fleet, node: Node, blamer: Blamer | None) -> None:
    """A node's groups and features, and each parameter with the layer that decides its value."""
    said, today = fleet.compiled[node.name].said, fleet.compiled.today
    console.print(Text(node.name, "bold"))
    for noun, names in (("groups", node.groups), ("features", node.features), ("labels", said.labels)):
        if names:
            console.print(Text(f"  {noun}: ", "dim") + Text(safe(", ".join(names))))
    overrides = [
        Text(f"{safe(one.name)} {in_words(one.until, today)}", "red" if is_over(one.until, today) else "")
        for one in fleet.compiled[node.name].kind.overrides
    ]
    if overrides:
        console.print(Text("  overrides: ", "dim") + Text(", ").join(overrides))
    if said.retired:
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
    made = tuple(map(Text, blame_cells(blamer.of(step.path[0], step.origin)))) if blamer else ()
    layers = safe(by(step, view))
    return (
        Text(safe(name), "bold"),
        Text(as_text(value), "green"),
        Text(layers),
        place_text(step.origin),
        *made,
    )
