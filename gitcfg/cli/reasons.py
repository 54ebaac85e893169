"""Rules that pass a node by, for eyes."""

from collections.abc import Iterable, Iterator

from rich.text import Text

from gitcfg.cli.trails import as_text, blame_line, decision_text, place_text
from gitcfg.explain.trail import Blamer, Place, Viewpoint, describe_content, describe_listing, describe_path
from gitcfg.explain.why import (
    Answer,
    FeatureAnswer,
    FileAnswer,
    FileMention,
    GroupAnswer,
    Passing,
    Reason,
    Removal,
    Sight,
)
from gitcfg.model import Origin
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged


def passing_lines(found: Passing, feature: str) -> Iterator[Text]:
    """What keeps a rule from installing a feature, where it says so, and what its condition saw."""
    what = "it" if found.feature == feature else f"{found.feature}, which includes it,"
    yield Text(safe(f"    rule {found.rule} installs {what} {_reason(found)}"))
    yield Text("      at ", "blue") + place_text(found.at.origin)
    for saw in found.saw:
        yield from _saw(saw, found.at.name)


def _reason(found: Passing) -> str:
    where = " ".join(found.at.name.split())
    return {
        Reason.WHERE: f"only where {where}",
        Reason.FAILED: f"only where {where}, and that cannot be said: {found.problem}",
        Reason.OVER: f"for instances of {found.at.name}, and it has none",
        Reason.PLACED: f"where that is decided: on {abridged(found.slots, IN_JSON)}",
        Reason.OPEN: "where that is decided, and nothing is yet: run `gitcfg solve`",
        Reason.IDLE: "nowhere: `gitcfg check` says why",
    }[found.reason]


def _saw(saw: Sight, where: str) -> Iterator[Text]:
    """The terms of a condition with their values; not the one that is all of it: that does not hold."""
    who = f"{safe(abridged(saw.instances, IN_JSON))}: " if saw.instances else ""
    for term, value in saw.terms.items():
        if value is not False or term != where.strip():
            yield Text(f"      {who}{safe(term)} is ") + Text(as_text(value), "green")


# Why a node has a feature, a file or a group, for eyes.


class Reasons:
    """Answers about one node in lines; with who made things so, if there is a blamer."""

    def __init__(self, view: Viewpoint, blamer: Blamer | None) -> None:
        self.node = view.node
        self.view = view
        self.blamer = blamer

    def of(self, found: Answer) -> Iterator[Text]:
        """An answer's lines: yes or no, and why."""
        if isinstance(found, GroupAnswer):
            return self._group(found)
        return self._feature(found) if isinstance(found, FeatureAnswer) else self._file(found)

    def _head(self, verb: str, name: str, more: str = "") -> Text:
        return Text.assemble(f"{self.node} {verb} ", (safe(name), "bold"), safe(more))

    def _at(self, layer: str, origin: Origin, more: str = "", blamed: bool = True) -> Text:
        line = Text("      at ", "blue") + place_text(origin) + Text(more, "dim")
        return line + blame_line(self.blamer, layer, origin, 6) if blamed else line

    def _feature(self, found: FeatureAnswer) -> Iterator[Text]:
        more = f" as {abridged(found.instances, IN_JSON)}" if found.instances else ""
        more += f", at {len(found.places)} places" if len(found.places) > 1 else ""
        yield self._head("has" if found.has else "does not have", found.name, more)
        for place in found.places:
            yield from self._place(place, single=len(found.places) == 1)
        for taken in found.taken:
            yield from self._place(taken.place, single=True)
            yield from self._removals(taken.removals)
        if found.barred:
            yield Text("  - included, but by includes that do not count: `gitcfg check` says why")
        elif not (found.has or found.taken or found.retired):
            yield Text("  - no layer of the node lists it, nor a feature that includes it")
        for rule in found.rules:
            yield from passing_lines(rule, found.name)
        yield from _elsewhere("on other nodes it is installed by", found.elsewhere)
        yield from _retired(found.retired)

    def _place(self, place: Place, single: bool) -> Iterator[Text]:
        bullet = "  - "
        for layer, origin in zip(place.layers, place.origins, strict=True):
            yield Text(bullet + safe(describe_listing(layer, self.view)))
            yield self._at(layer, origin)
            bullet = "    "
        if place.decided is not None:
            yield decision_text(place.decided, place.origins[-1], self.blamer, 6)
        if place.instances and not single:
            yield Text(f"    as {safe(abridged(place.instances, IN_JSON))}")

    def _removals(self, removals: Iterable[Removal]) -> Iterator[Text]:
        for removal in removals:
            words = f"    but `without` of {removal.by.layer} takes {removal.feature} away"
            yield Text(safe(words), "yellow")
            yield self._at(removal.by.layer, removal.by.origin)

    def _file(self, found: FileAnswer) -> Iterator[Text]:
        yield self._head("has" if found.has else "does not have", found.name)
        for brought in found.entries:
            yield from self._entry(found, brought)
        for brought in found.taken:
            yield from self._entry(found, brought)
            yield from self._removals(brought.removals)
        if not (found.entries or found.taken or found.retired):
            yield Text("  - no layer of the node brings it")
        yield from _elsewhere("on other nodes it is brought by", found.elsewhere)
        yield from _retired(found.retired)

    def _entry(self, found: FileAnswer, brought: FileMention) -> Iterator[Text]:
        entry, decides = brought.entry, brought is found.deciding
        style = "" if decides or brought.removals else "dim"
        verb = "taken away" if entry.removed else "brought"
        yield Text("  - " + safe(describe_path(verb, brought.path, self.view)), style)
        yield self._at(brought.path[0], entry.origin, "  overridden" if style else "")
        if not entry.removed:
            params = f", with {counted(found.params, 'parameter')}" if decides and found.params else ""
            owner = f"mode {entry.mode}, owner {entry.owner}, group {entry.group}"
            yield Text(safe(f"    {describe_content(entry)}{params}; {owner}"), style)

    def _group(self, found: GroupAnswer) -> Iterator[Text]:
        yield self._head("is in" if found.has else "is not in", found.name)
        if found.default:
            yield Text("  - every node is, without being told")
        for mention in (found.by, found.listed):
            if mention is not None:
                yield Text("  - " + safe(describe_listing(mention.layer, self.view)))
                yield self._at(mention.layer, mention.origin)
        if found.dropped is not None:
            yield Text("    but the list of the node itself drops it", "yellow")
            yield self._at(found.dropped.layer, found.dropped.origin, blamed=not found.replaced)
        if not (found.has or found.listed):
            yield Text("  - neither the node nor a set of it lists it")
        order = [(safe(name), "bold" if name == found.name else "") for name in found.groups]
        commas = [part for name in order for part in (", ", name)][1:]
        count = len(found.groups)
        place = f"place {found.groups.index(found.name) + 1} of {count}" if found.has else "its groups"
        yield Text.assemble(f"  {place}, highest first: ", *commas)
        if found.retired:
            yield Text("  It is retired: its groups give it nothing.", "yellow")


def _elsewhere(words: str, layers: tuple[str, ...]) -> Iterator[Text]:
    shared = [layer for layer in layers if not layer.startswith("node ") or layer.startswith("node set ")]
    nodes = [layer.removeprefix("node ") for layer in layers if layer not in shared]
    if layers:
        alone = [f"node {abridged(nodes, IN_JSON)}"] if nodes else []
        yield Text(safe(f"    {words} {', '.join([*shared, *alone])}"))


def _retired(retired: bool) -> Iterator[Text]:
    if retired:
        yield Text("  It is retired: it has no features, no parameters and no files.", "yellow")
