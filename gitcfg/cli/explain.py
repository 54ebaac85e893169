"""`gitcfg explain`: why a node has its values, features, files and groups."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gitcfg.cli.declaration import AtOption, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import (
    MOST_LAYERS,
    TrailOptions,
    as_text,
    at,
    blame_line,
    decision_text,
    default_lines,
    fill,
    is_node,
    items,
    phrases,
    set_on_lines,
    words,
    write_trails,
)
from gitcfg.compile.operations import NOTHING
from gitcfg.explain.rules import Passing, Reason
from gitcfg.explain.trail import (
    Blamer,
    Mention,
    Place,
    Viewpoint,
    describe_content,
    describe_layer,
    describe_listing,
    describe_operation,
    describe_path,
    describe_step,
    view_from,
)
from gitcfg.explain.why import (
    Answer,
    FeatureAnswer,
    FileAnswer,
    FileMention,
    GroupAnswer,
    Loss,
    ParamAnswer,
    Removal,
    Source,
    why_feature,
    why_file,
    why_group,
    why_not,
    why_param,
    why_record,
)
from gitcfg.model import GitcfgError, Op, Origin
from gitcfg.model.names import shown
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Node

EPILOG = """Examples:

  gitcfg explain exec001.example.com START --all --blame  every step to the value, with its commit

  gitcfg explain exec001.example.com --why-not START=FALSE --why-not GpuNode  what prevents it

  gitcfg explain exec001.example.com --feature GpuNode --file /etc/motd --at main -o json"""

_FEATURE = typer.Option(help="Explain why it has this feature, or not.", metavar="NAME")
_FILE = typer.Option(help="Show the layer that decides this file.", metavar="PATH")
_WHY_NOT = typer.Option(
    "--why-not",
    help="Explain why it does not have a parameter, a value or a feature.",
    metavar="PARAM[=VALUE]|FEATURE",
)
_GROUP = typer.Option(help="Explain why it is in this group, or not.", metavar="NAME")


@command(EPILOG, Items("gitcfg.trail/1", "params", "param"), Items("gitcfg.why/1", "answers", "answer"))
def explain(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="The node.")],
    params: Annotated[list[str] | None, typer.Argument(help="Parameters; default: all.")] = None,
    feature: Annotated[list[str] | None, _FEATURE] = None,
    file: Annotated[list[str] | None, _FILE] = None,
    group: Annotated[list[str] | None, _GROUP] = None,
    why_not_: Annotated[list[str] | None, _WHY_NOT] = None,
    at: AtOption = None,
    all_: Annotated[bool, typer.Option("--all", help="Also show overridden steps.")] = False,
    blame: Annotated[bool, typer.Option("--blame", help="Show the commit of each step.")] = False,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show which layers a node's values come from, or why it has a feature, a file or a group."""
    session: Session = context.obj
    asked = (("feature", feature), ("file", file), ("group", group), ("why-not", why_not_))
    questions = [(kind, name) for kind, names in asked for name in names or ()]
    for name in why_not_ or ():
        if name.startswith("-"):
            hint = "Use `--why-not NAME`, with the name of a parameter or a feature."
            raise GitcfgError(f"`--why-not` requires a name, not {shown(name)}.", hint)
    if questions and params:
        what = "Parameters cannot be combined with --feature, --file, --group and --why-not."
        raise GitcfgError(what, "Use a separate command for them.")
    from gitcfg.cli.nodes import find_node

    with session.fleet(at) as fleet:
        node = find_node(fleet, node)
        blamer = session.open().blamer(at) if blame else None
        if questions:
            _write_answers(session, fleet, fleet[node], questions, blamer, output)
        else:
            alone = fleet.valued([node])
            names = tuple(params or ())
            unbound = [name for name in names if name not in alone[node].params]
            absent = {name: why_param(fleet.compiled, fleet.compiled[node], name) for name in unbound}
            options = TrailOptions(names, all_, blamer, output)
            write_trails(session, alone, alone[node], options, absent)
    return 0


def _write_answers(
    session: Session,
    fleet: "Fleet",
    node: "Node",
    questions: Iterable[tuple[str, str]],
    blamer: Blamer | None,
    output: Output,
) -> None:
    """Write why a node has features, files or groups: a question is one of these kinds and a name."""
    compiled, answers = fleet.compiled, list[Answer]()
    found = compiled[node.name]
    for kind, name in questions:
        if kind == "file":
            answers.append(why_file(compiled, found, name, fleet.engine))
        elif kind == "why-not":
            param, equals, value = name.partition("=")
            answers += why_not(compiled, found, param, value if equals else None)
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
    """Answers about one node in lines; with the authors of changes, if there is a blamer."""

    def __init__(self, view: Viewpoint, blamer: Blamer | None) -> None:
        self.node = view.node
        self.view = view
        self.blamer = blamer

    def of(self, found: Answer) -> Iterator[Text]:
        """Yield an answer's lines: yes or no, and why."""
        if isinstance(found, GroupAnswer):
            return self._group(found)
        if isinstance(found, ParamAnswer):
            return self._param(found)
        return self._feature(found) if isinstance(found, FeatureAnswer) else self._file(found)

    def _head(self, verb: str, name: str, more: str = "") -> Text:
        return Text.assemble(f"{self.node} {verb} ", (safe(name), "bold"), safe(more))

    def _at(self, layer: str, origin: Origin, more: str = "", blamed: bool = True) -> Text:
        line = fill(6, [Text("      ")], at(origin), [Text(more, "dim")])
        return line + blame_line(self.blamer, layer, origin, 6) if blamed else line

    def _param(self, found: ParamAnswer) -> Iterator[Text]:
        verb = "has" if found.has else "does not have"
        if found.wanted is None:
            yield self._head(f"{verb} the parameter", found.name)
        else:
            yield self._head(verb, f"{found.name}={found.wanted}")
        yield from _retired(found.retired)
        deciding = found.deciding
        if deciding is not None:
            state = "is not set" if found.value is NOTHING else "is bound without a value"
            if found.value is not NOTHING and found.value is not None:
                state = f"is {as_text(found.value)}"
            yield fill(4, items(f"  - it {state}, ", "green"), phrases(describe_step(deciding, self.view)))
            yield self._at(deciding.path[0], deciding.origin)
        for loss in found.losses:
            yield from self._loss(loss)
        if not found.has:
            yield from self._sources(found)
            yield from default_lines(found)
        yield from set_on_lines(found)

    def _loss(self, loss: Loss) -> Iterator[Text]:
        step, by = loss.step, loss.by
        given = f": {as_text(step.given)}" if step.given is not None else ""
        yield fill(4, phrases(f"  - {describe_step(step, self.view)}"), items(given))
        yield self._at(step.path[0], step.origin)
        what = "this is a default, and a lower layer gives" if loss.idle else "a higher layer changes"
        start = Text(f"    but {what} {'a value' if loss.idle else 'this'}: ", "yellow")
        yield fill(6, [start], phrases(describe_step(by, self.view), "yellow"))
        yield self._at(by.path[0], by.origin)

    def _sources(self, found: ParamAnswer) -> Iterator[Text]:
        """Yield the layers that would set a parameter, and why each does not here."""
        nodes = [source for source in found.sources if is_node(source.setting.layer)]
        others = [source for source in found.sources if source not in nodes]
        for source in others[:MOST_LAYERS]:
            yield from self._source(source, found.retired)
        if len(others) > MOST_LAYERS:
            yield Text(f"  - and {len(others) - MOST_LAYERS:,} more layers ({IN_JSON})")
        if nodes:
            names = abridged([source.setting.layer.removeprefix("node ") for source in nodes], IN_JSON)
            more = f" and {len(nodes) - 1:,} more" if len(nodes) > 1 else ""
            alone = "this node" if len(nodes) == 1 else "each of these nodes"
            yield fill(4, items(f"  - set for {alone} alone: {names}"))
            yield self._at(nodes[0].setting.layer, nodes[0].setting.origin, more)
        if not (found.sources or found.losses):
            yield Text("  - no layer binds it" if found.wanted is None else "  - no layer gives this value")

    def _source(self, source: Source, retired: bool) -> Iterator[Text]:
        setting, why = source.setting, source.why
        given = f": {as_text(setting.given)}" if setting.given is not None else ""
        is_open = setting.op is Op.DEFAULT and setting.given is None
        verb = "left open" if is_open else describe_operation(setting.op)
        yield fill(4, phrases(f"  - {describe_layer(verb, setting.layer)}"), items(given))
        yield self._at(setting.layer, setting.origin)
        if isinstance(why, Passing):
            yield from passing_lines(why, "")
        elif isinstance(why, FeatureAnswer):
            yield from self._missing_feature(why)
        elif isinstance(why, GroupAnswer):
            if why.dropped is None:
                yield Text("    but the node is not in this group", "yellow")
            yield from self._dropped(why)
        elif retired:
            return
        elif setting.layer.startswith("override "):
            yield Text("    but this override does not apply to the node", "yellow")
        elif setting.layer.startswith("node set "):
            yield Text("    but the node is not in this node set", "yellow")

    def _missing_feature(self, found: FeatureAnswer) -> Iterator[Text]:
        """Yield why the node does not have a feature, without its places."""
        removals = dict.fromkeys(removal for mention in found.taken for removal in mention.removals)
        if found.has:
            more = f" as {abridged(found.instances, IN_JSON)}" if found.instances else ""
            yield Text(safe(f"    but the node has this feature only{more}"), "yellow")
        elif found.barred:
            what = "    but it is included only by includes that are ignored: `gitcfg check` shows why"
            yield Text(what, "yellow")
        elif not removals:
            what = "    but no layer of the node lists this feature or one that includes it"
            yield Text(what, "yellow")
        yield from self._removals(removals)
        for rule in found.rules:
            yield from passing_lines(rule, found.name)
        yield from _elsewhere("on other nodes it is installed by", found.elsewhere)

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
            yield fill(4, phrases(bullet + describe_listing(layer, self.view)))
            yield self._at(layer, origin)
            bullet = "    "
        if place.decided is not None:
            yield decision_text(place.decided, place.origins[-1], self.blamer, 6)
        if place.instances and not single:
            yield Text(f"    as {safe(abridged(place.instances, IN_JSON))}")

    def _removals(self, removals: Iterable[Removal]) -> Iterator[Text]:
        for removal in removals:
            what = f"    but `without` of {removal.by.layer} removes {removal.feature}"
            yield fill(6, words(what, "yellow"))
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
        yield fill(4, phrases("  - " + describe_path(verb, mention.path, self.view), style))
        yield self._at(mention.path[0], entry.origin, "  overridden" if style else "")
        if not entry.removed:
            params = f", with {counted(found.params, 'parameter')}" if decides and found.params else ""
            owner = f"mode {entry.mode}, owner {entry.owner}, group {entry.group}"
            yield fill(6, words(f"    {describe_content(entry)}{params};", style), words(f" {owner}", style))

    def _group(self, found: GroupAnswer) -> Iterator[Text]:
        yield self._head("is in" if found.has else "is not in", found.name)
        if found.default:
            yield Text("  - every node is in it, because it is the default group")
        for mention in (found.by, found.listed):
            if mention is not None:
                yield from self._listing(mention)
        yield from self._dropped(found)
        if not (found.has or found.listed):
            yield Text("  - neither the node nor its node set lists it")
        order = [(safe(name), "bold" if name == found.name else "") for name in found.groups]
        ends = [", "] * (len(order) - 1) + [""]
        names = [Text.assemble(name, end) for name, end in zip(order, ends, strict=True)]
        count = len(found.groups)
        place = f"place {found.groups.index(found.name) + 1} of {count}" if found.has else "its groups"
        yield fill(4, [Text(f"  {place}, highest first: "), *names])
        if found.retired:
            yield Text("  It is retired: its groups have no effect.", "yellow")

    def _listing(self, mention: Mention) -> Iterator[Text]:
        yield Text("  - " + safe(describe_listing(mention.layer, self.view)))
        yield self._at(mention.layer, mention.origin)

    def _dropped(self, found: GroupAnswer) -> Iterator[Text]:
        """Yield where a node removes a group that its node set lists."""
        if found.dropped is not None:
            yield Text("    but the node's own list removes it", "yellow")
            yield self._at(found.dropped.layer, found.dropped.origin, blamed=not found.replaced)


def passing_lines(found: Passing, feature: str) -> Iterator[Text]:
    """Yield why a rule does not install a feature, or set a parameter, and the place in the rule.

    The terms of its condition follow, with their values.
    """
    what = "it" if found.feature == feature else f"{found.feature}, which includes it,"
    does = f"installs {what}" if found.feature else "sets it"
    yield fill(6, words(f"    rule {found.rule} {does} {_reason(found)}"))
    yield fill(6, [Text("      ")], at(found.at.origin))
    for sight in found.saw:  # not a term that is the whole condition: it is known to be false
        who = f"{abridged(sight.instances, IN_JSON)}: " if sight.instances else ""
        for term, value in sight.terms.items():
            if value is not False or term != found.at.name.strip():
                yield fill(8, words(f"      {who}{term} is"), items(f" {as_text(value)}", "green"))


def _reason(found: Passing) -> str:
    where = " ".join(found.at.name.split())
    solves = "places it" if found.feature else "decides it"
    return {
        Reason.WHERE: f"only where {where}",
        Reason.FAILED: f"only where {where}, which cannot be evaluated: {found.problem}",
        Reason.OVER: f"for instances of {found.at.name}, which the node does not have",
        Reason.PLACED: f"only where `gitcfg solve` placed it: on {abridged(found.slots, IN_JSON)}",
        Reason.OPEN: f"only where `gitcfg solve` {solves}: nothing is decided yet",
        Reason.IDLE: "nowhere: `gitcfg check` shows why",
    }[found.reason]


def _elsewhere(what: str, layers: tuple[str, ...]) -> Iterator[Text]:
    nodes = [layer.removeprefix("node ") for layer in layers if is_node(layer)]
    if layers:
        alone = [f"node {abridged(nodes, IN_JSON)}"] if nodes else []
        names = ", ".join([*(layer for layer in layers if not is_node(layer)), *alone])
        yield fill(6, words(f"    {what}"), phrases(f" {names}"))


def _retired(retired: bool) -> Iterator[Text]:
    if retired:
        yield Text("  It is retired: it has no features, no parameters and no files.", "yellow")
