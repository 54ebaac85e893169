"""`gitcfg explain`: why a node has what it has."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gitcfg.cli.declaration import AtOption, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import TrailOptions, as_text, blame_line, decision_text, place_text, write_trails
from gitcfg.explain.rules import Passing, Reason
from gitcfg.explain.trail import (
    Blamer,
    Place,
    Viewpoint,
    describe_content,
    describe_listing,
    describe_path,
    view_from,
)
from gitcfg.explain.why import (
    Answer,
    FeatureAnswer,
    FileAnswer,
    FileMention,
    GroupAnswer,
    Removal,
    why_feature,
    why_file,
    why_group,
    why_record,
)
from gitcfg.model import GitcfgError, Origin
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Node

EPILOG = """Examples:

  gitcfg explain exec001.example.com START --all    the steps that led to the value, and those overridden

  gitcfg explain exec001.example.com START --blame  ... with the commit of each step

  gitcfg explain exec001.example.com --feature GpuNode --file /etc/motd --at main -o json"""

_FEATURE = typer.Option(help="Explain why it has this feature, or not.", metavar="NAME")
_FILE = typer.Option(help="Show the layer that decides this file.", metavar="PATH")
_GROUP = typer.Option(help="Explain why it is in this group, or not.", metavar="NAME")


@command(EPILOG, Items("gitcfg.trail/1", "params", "param"), Items("gitcfg.why/1", "answers", "answer"))
def explain(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="The node.")],
    params: Annotated[list[str] | None, typer.Argument(help="Parameters; default: all.")] = None,
    feature: Annotated[list[str] | None, _FEATURE] = None,
    file: Annotated[list[str] | None, _FILE] = None,
    group: Annotated[list[str] | None, _GROUP] = None,
    at: AtOption = None,
    all_: Annotated[bool, typer.Option("--all", help="Also show overridden steps.")] = False,
    blame: Annotated[bool, typer.Option("--blame", help="Show the commit of each step.")] = False,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show which layers a node's values come from, or why it has a feature, a file or a group."""
    session: Session = context.obj
    asked = (("feature", feature), ("file", file), ("group", group))
    questions = [(kind, name) for kind, names in asked for name in names or ()]
    if questions and params:
        what = "Parameters cannot be combined with --feature, --file and --group."
        raise GitcfgError(what, "Use a separate command for them.")
    from gitcfg.cli.nodes import find_node

    with session.fleet(at) as fleet:
        node = find_node(fleet, node)
        blamer = session.open().blamer(at) if blame else None
        if questions:
            _write_answers(session, fleet, fleet[node], questions, blamer, output)
        else:
            alone = fleet.valued([node])
            for name in params or ():
                _require_parameter(alone, alone[node], name)
            write_trails(session, alone, alone[node], TrailOptions(tuple(params or ()), all_, blamer, output))
    return 0


def _require_parameter(fleet: "Fleet", node: "Node", name: str) -> None:
    if node.explain(name) or fleet.compiled.declarations.find(name):
        return
    known = {*fleet.compiled.model.parameters, *node.params}
    raise GitcfgError(f"There is no parameter {shown(name)}.", did_you_mean(name, known))


def _write_answers(
    session: Session,
    fleet: "Fleet",
    node: "Node",
    questions: Iterable[tuple[str, str]],
    blamer: Blamer | None,
    output: Output,
) -> None:
    """Write why a node has features, files or groups: a question is one of these words and a name."""
    compiled, answers = fleet.compiled, list[Answer]()
    found = compiled[node.name]
    for kind, name in questions:
        if kind == "file":
            answers.append(why_file(compiled, found, name, fleet.engine))
        else:
            answers.append((why_group if kind == "group" else why_feature)(compiled, found, name))
    if output is not Output.TEXT:
        write_record(why_record(fleet.commit, node.name, answers, blamer), output)
        return
    console = session.console()
    reasons = Reasons(view_from(compiled, node.name), blamer)
    for answer in answers:
        for line in reasons.of(answer):
            console.print(line)


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
        for mention in found.taken:
            yield from self._place(mention.place, single=True)
            yield from self._removals(mention.removals)
        if found.barred:
            yield Text("  - included, but only by includes that are ignored: `gitcfg check` shows why")
        elif not (found.has or found.taken or found.retired):
            yield Text("  - no layer of the node lists it or a feature that includes it")
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
            words = f"    but `without` of {removal.by.layer} removes {removal.feature}"
            yield Text(safe(words), "yellow")
            yield self._at(removal.by.layer, removal.by.origin)

    def _file(self, found: FileAnswer) -> Iterator[Text]:
        yield self._head("has" if found.has else "does not have", found.name)
        for mention in found.entries:
            yield from self._entry(found, mention)
        for mention in found.taken:
            yield from self._entry(found, mention)
            yield from self._removals(mention.removals)
        if not (found.entries or found.taken or found.retired):
            yield Text("  - no layer of the node has it")
        yield from _elsewhere("on other nodes it comes from", found.elsewhere)
        yield from _retired(found.retired)

    def _entry(self, found: FileAnswer, mention: FileMention) -> Iterator[Text]:
        entry, decides = mention.entry, mention is found.deciding
        style = "" if decides or mention.removals else "dim"
        verb = "removed" if entry.removed else "defined"
        yield Text("  - " + safe(describe_path(verb, mention.path, self.view)), style)
        yield self._at(mention.path[0], entry.origin, "  overridden" if style else "")
        if not entry.removed:
            params = f", with {counted(found.params, 'parameter')}" if decides and found.params else ""
            owner = f"mode {entry.mode}, owner {entry.owner}, group {entry.group}"
            yield Text(safe(f"    {describe_content(entry)}{params}; {owner}"), style)

    def _group(self, found: GroupAnswer) -> Iterator[Text]:
        yield self._head("is in" if found.has else "is not in", found.name)
        if found.default:
            yield Text("  - every node is in it, because it is the default group")
        for mention in (found.by, found.listed):
            if mention is not None:
                yield Text("  - " + safe(describe_listing(mention.layer, self.view)))
                yield self._at(mention.layer, mention.origin)
        if found.dropped is not None:
            yield Text("    but the node's own list removes it", "yellow")
            yield self._at(found.dropped.layer, found.dropped.origin, blamed=not found.replaced)
        if not (found.has or found.listed):
            yield Text("  - neither the node nor its node set lists it")
        order = [(safe(name), "bold" if name == found.name else "") for name in found.groups]
        commas = [part for name in order for part in (", ", name)][1:]
        count = len(found.groups)
        place = f"place {found.groups.index(found.name) + 1} of {count}" if found.has else "its groups"
        yield Text.assemble(f"  {place}, highest first: ", *commas)
        if found.retired:
            yield Text("  It is retired: its groups have no effect.", "yellow")


def passing_lines(found: Passing, feature: str) -> Iterator[Text]:
    """What keeps a rule from installing a feature, where it says so, and what its condition saw."""
    what = "it" if found.feature == feature else f"{found.feature}, which includes it,"
    yield Text(safe(f"    rule {found.rule} installs {what} {_reason(found)}"))
    yield Text("      at ", "blue") + place_text(found.at.origin)
    for sight in found.saw:  # not the term that is all of the condition: that does not hold
        who = f"{safe(abridged(sight.instances, IN_JSON))}: " if sight.instances else ""
        for term, value in sight.terms.items():
            if value is not False or term != found.at.name.strip():
                yield Text(f"      {who}{safe(term)} is ") + Text(as_text(value), "green")


def _reason(found: Passing) -> str:
    where = " ".join(found.at.name.split())
    return {
        Reason.WHERE: f"only where {where}",
        Reason.FAILED: f"only where {where}, which cannot be evaluated: {found.problem}",
        Reason.OVER: f"for instances of {found.at.name}, which the node does not have",
        Reason.PLACED: f"only where `gitcfg solve` placed it: on {abridged(found.slots, IN_JSON)}",
        Reason.OPEN: "only where `gitcfg solve` places it: nothing is decided yet",
        Reason.IDLE: "nowhere: `gitcfg check` shows why",
    }[found.reason]


def _elsewhere(words: str, layers: tuple[str, ...]) -> Iterator[Text]:
    shared = [layer for layer in layers if not layer.startswith("node ") or layer.startswith("node set ")]
    nodes = [layer.removeprefix("node ") for layer in layers if layer not in shared]
    if layers:
        alone = [f"node {abridged(nodes, IN_JSON)}"] if nodes else []
        yield Text(safe(f"    {words} {', '.join([*shared, *alone])}"))


def _retired(retired: bool) -> Iterator[Text]:
    if retired:
        yield Text("  It is retired: it has no features, no parameters and no files.", "yellow")
