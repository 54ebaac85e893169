"""Settings and file entries for eyes, each with the nodes on which it wins."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from rich.text import Text

from gitcfg.cli.trails import aligned, as_text, place_text
from gitcfg.explain.definition import Entry, Setting
from gitcfg.explain.trail import describe_content, format_operation
from gitcfg.model import Origin
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import counted, safe
from gitcfg.render.files import PRIVATE

T = TypeVar("T")
_MANY = ("parameter", "secret")
"""What many layers may bind."""


class Winners:
    """Tells what a definition of some kind holds; `nodes` are all that it is about."""

    def __init__(self, kind: str, nodes: Iterable[str]) -> None:
        self.kind = kind
        self.nodes = frozenset(nodes)

    def settings(self, found: Sequence[Setting]) -> Iterator[Text]:
        """Two lines each: what is bound; and the place, with the nodes on which it wins."""
        folded = group_alike(found, lambda one: one.layer, _said)
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
        """Three lines each: the file; what it is made of; and the place, with the nodes that get it."""
        own = self.kind not in (*_MANY, "template", "file")
        verb = "holds it" if self.kind == "secret" else "decides"
        for same in group_alike(found, lambda one: one.layer, _brought):
            entry = same[0].entry
            owner = "" if entry.removed else f", mode {entry.mode}, owner {entry.owner}, group {entry.group}"
            layer = "" if own else f" by {layer_name(one.layer for one in same)}"
            yield Text(safe(entry.path), "bold") + Text(safe(layer), "default")
            yield Text(f"  {safe(describe_content(entry) + owner)}")
            nodes = [name for one in same for name in one.nodes]
            private = [name for one in same for name in one.private]
            yield Text("  ") + places_text([one.entry.origin for one in same]) + self._wins(verb, nodes)
            if private:
                told = f"  mode {PRIVATE}, as it takes a secret, on {counted(len(private), 'node')}: "
                yield Text(told) + Text(safe(abridged(private, IN_JSON)), "magenta")

    def _wins(self, verb: str, nodes: Sequence[str]) -> Text:
        """Which nodes it counts on, in the fewest words."""
        found = frozenset(nodes)
        others = self.nodes - found
        if not found:
            return Text(f"  {verb} on no node", "yellow")
        if len(found) == 1 or not found <= self.nodes or len(others) >= len(found):
            return Text(f"  {verb} on {counted(len(found), 'node')}: ") + Text(
                safe(abridged(nodes, IN_JSON)), "magenta"
            )
        if not others:
            return Text(f"  {verb} on all {len(found)} nodes")
        text = Text(f"  {verb} on {len(found)} of {len(self.nodes)} nodes, not on ")
        return text + Text(safe(abridged(sorted(others), IN_JSON)), "magenta")


def _said(one: Setting) -> Hashable:
    return one.param, one.op, msgspec.json.encode(one.given, order="deterministic"), not one.nodes, one.fits


def _brought(one: Entry) -> Hashable:
    return describe_content(one.entry), one.entry.path, one.entry.mode, one.entry.owner, one.entry.group


def group_alike(
    found: Iterable[T], layer: Callable[[T], str], said: Callable[[T], Hashable]
) -> list[list[T]]:
    """Nodes that say the same in their own files together; everything else stands by itself."""
    groups: dict[Hashable, list[T]] = {}
    for number, one in enumerate(found):
        label = layer(one)
        own = label.startswith("node ") and not label.startswith("node set ")
        groups.setdefault((said(one),) if own else number, []).append(one)
    return list(groups.values())


def layer_name(labels: Iterable[str]) -> str:
    """A layer, or several nodes' own."""
    labels = list(labels)
    return (
        labels[0]
        if len(labels) == 1
        else f"node {abridged((label.removeprefix('node ') for label in labels), IN_JSON)}"
    )


def places_text(origins: Sequence[Origin]) -> Text:
    """A place, or that they are several nodes' own files."""
    return (
        Text("at ", "blue") + place_text(origins[0])
        if len(origins) == 1
        else Text("in their own files", "blue")
    )
