"""A parameter's values with their nodes, for eyes."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from gitcfg.cli.trails import as_text, place_text
from gitcfg.explain.trail import left_open, operation
from gitcfg.explain.values import Held
from gitcfg.model import Decision, Origin
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import counted, safe


def print_values(console: Console, param: str, held: Iterable[Held], unset: bool) -> None:
    """Every value with its nodes; with `unset` only those nodes that have none."""
    held = tuple(held)
    bound = [one for one in held if one.bound]
    others = [one for one in held if not one.bound]
    wanted = [one for one in bound if one.value is None] if unset else bound
    for one in wanted:
        for line in _value(param, one):
            console.print(line)
    for one in others:
        text = Text.assemble((safe(param), "bold"), " is not bound")
        console.print(text + Text("" if unset else " (--unset shows where)", "dim"))
        console.print(nodes_line(one.nodes) if unset else Text(f"  on {counted(len(one.nodes), 'node')}"))
    if not held:
        console.print(Text("No node is selected."))
    elif unset and not (wanted or others):
        console.print(Text.assemble((safe(param), "bold"), " has a value on every node."))


def _value(param: str, held: NodesWithValue) -> Iterator[Text]:
    step = held.step
    head = Text(safe(param), "bold")
    if held.value is None:
        yield head + Text(" is bound without a value")
    else:
        yield head + Text(" is ") + Text(as_text(held.value), "green")
    yield nodes_line(held.nodes)
    if step is not None:
        path = Text(f"  {format_operation(step.op):<8} ", "cyan") + Text(safe(" < ".join(step.path)))
        collected = Text(f", from {safe(abridged(step.nodes, IN_JSON))}") if step.nodes else Text()
        yield path + Text("  at ", "blue") + place_text(step.origin) + collected
        for decision in step.decided:
            yield _decided(decision, step.origin, len(held.nodes))


def _decided(decision: Decision, told: Origin, nodes: int) -> Text:
    """Which rule leaves something open, and where it is decided for a node; for several, in which file."""
    line = Text(f"  {safe(left_open(decision))} ") + Text("at ", "blue") + place_text(decision.asked)
    if nodes > 1:
        return line + Text(", decided ") + Text(f"in {safe(decision.origin.file)}", "blue")
    at = Text(", decided ") + Text("at ", "blue") + place_text(decision.origin)
    return line if decision.origin == told else line + at


def nodes_line(nodes: tuple[str, ...]) -> Text:
    """The nodes, folded."""
    return Text(f"  on {counted(len(nodes), 'node')}: ") + Text(safe(abridged(nodes, IN_JSON)), "magenta")
