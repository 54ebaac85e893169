"""What `gitcfg configure` shows, and what follows a step: values to drop or give, problems, the reach."""

from collections.abc import Iterable, Iterator

from rich.text import Text

from gitcfg.check.results import unlike
from gitcfg.cli import changes, findings
from gitcfg.cli.configure.dialogue import Conversation, Seen
from gitcfg.cli.configure.edits import add_feature, ask_value, drop_param, remove_feature
from gitcfg.compile.nodes import Roster, define_node
from gitcfg.edit.configure import Advice, AdvisedAction, find_advice, find_idle
from gitcfg.edit.draft import Draft
from gitcfg.edit.yaml.tree import Meaning, to_yaml
from gitcfg.explain.trail import added_items
from gitcfg.model import Finding, GitcfgError, Model, Use
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import abridged


def format_state(seen: Seen, draft: Draft) -> Iterator[Text]:
    """Everything that may be changed here, and what stands below it."""
    found, target = seen.definition, seen.target
    file = found.origin.file if found is not None else None
    yield Text(target.label, "bold") + Text(f"  {file or 'has no file of its own yet'}", "blue")
    for line in (found.description if found is not None else "").strip().splitlines():
        yield Text(f"  {safe(line)}", "italic")
    yield from _format_heading(seen)
    yield from _format_features(draft.meaning(file, "features") if file else None)
    if target.kind != "group":
        yield from _format_inherited(seen.fleet.model, seen)
    params = draft.meaning(file, "params") if file else None
    yield Text(f"parameters set here:{'' if isinstance(params, dict) and params else ' none'}", "cyan")
    for name, value in params.items() if isinstance(params, dict) else ():
        yield Text(f"  {safe(name)}: ", "bold") + Text(safe(to_yaml(value)))


def _format_heading(seen: Seen) -> Iterator[Text]:
    """Whom it concerns, and whether others say what it is, too."""
    target, nodes = seen.target, seen.nodes
    if target.kind != "node":
        folded = safe(abridged(nodes)) if nodes else "none; it is judged as if one were in it"
        yield Text(f"  {counted(len(nodes), 'node')}: ", "") + Text(folded, "magenta")
        return
    nodeset = Roster(seen.fleet.model).sets.get(target.name)
    if nodeset is not None:
        name = safe(nodeset.name)
        yield Text(f"  It is one of {counted(len(nodeset.members), 'node')} of the node set {name}.")
        yield Text(f"  What is changed here holds for it alone; `gitcfg configure nodeset/{name}`")
        yield Text("  changes all of them.")


def _format_features(found: Meaning | None) -> Iterator[Text]:
    """The definition's own list. Positions count in it."""
    word = ""
    if isinstance(found, dict):
        word, found = next(iter(found.items()), ("", None))
    items = found if isinstance(found, list) else []
    composed = f" ({word} to what its node set lists)" if word else ""
    yield Text(f"features{composed}, highest first:{'' if items else ' none'}", "cyan")
    for number, item in enumerate(items):
        yield Text(f"  {number}  ", "dim") + Text(safe(to_yaml(item)))


def _format_inherited(model: Model, seen: Seen) -> Iterator[Text]:
    """What a node, or all of a set, has of its set and its groups, highest first."""
    roster, name = Roster(model), seen.target.name
    alone = seen.target.kind == "node"
    told = roster.definition(name) if alone else define_node(None, model.nodesets[name])
    if alone and told.nodeset is not None:
        yield _inherited(f"node set {told.nodeset.name}", added_items(told.nodeset.definition.features))
    if not told.groups:
        yield Text("in no group but the default one", "dim")
    for ref in told.groups:
        if ref.name in model.groups:
            yield _inherited(f"group {ref.name}", model.groups[ref.name].features)
    default = model.settings.default_group
    if default in model.groups:
        yield _inherited(f"group {default}, as all nodes", model.groups[default].features)


def _inherited(layer: str, uses: Iterable[Use]) -> Text:
    names = (use.feature if use.instance is None else f"{use.feature} as {use.instance}" for use in uses)
    return Text(f"from {safe(layer)}: ", "dim") + Text(safe(", ".join(names)) or "no feature")


# What follows a step: values that are idle now, values that are wanted, problems, and the reach.


def follow_up(at: Conversation, before: Seen) -> None:
    """Ask about what a step has brought about, until nothing is left to ask, and tell what it means."""
    _ = before.findings  # first, because what comes after is found from what was there
    _drop_idle(at, before)
    told: set[Finding] = set()
    while (finding := _next(at, before, told)) is not None:
        told.add(finding)
        if finding.code == "GC305":
            _want(at, finding)
        else:
            at.talk.tell(findings.finding_text(at.now.fleet.tree, finding), "")
            _advise(at, finding)
    gone = unlike(before.findings, at.now.findings)
    if gone:
        at.talk.tell(f"{counted(len(gone), 'problem')} of before: gone.", "green")
    print_reach(at)


def _next(at: Conversation, before: Seen, told: set[Finding]) -> Finding | None:
    """A new problem that was not spoken of: values that are wanted last, when all features are there."""
    new = [each for each in unlike(at.now.findings, before.findings) if each not in told]
    return min(new, key=lambda each: (each.code == "GC305", not each.is_error), default=None)


def _drop_idle(at: Conversation, before: Seen) -> None:
    """Offer to drop values that only a feature needed which has gone."""
    found = at.now.definition
    if found is None:
        return
    declarations = at.now.compiled.declarations
    for each in find_idle(found.params, at.target.label, before.kinds, at.now.kinds, declarations):
        at.talk.tell(f"{safe(each.param)} was set here for {safe(', '.join(each.features))} alone.")
        if at.talk.agreed(f"Drop {safe(each.param)}?", default=True):
            drop_param(at, each.param)


def _want(at: Conversation, finding: Finding) -> None:
    """Ask for a value that is wanted now."""
    name = finding.subjects[0]
    nodes = f" On {counted(len(finding.nodes), 'node')}: {abridged(finding.nodes)}." if finding.nodes else ""
    at.talk.tell(safe(finding.message + nodes), "yellow")
    ask_value(at, name)


def _advise(at: Conversation, finding: Finding) -> None:
    """Offer what may help."""
    found = find_advice(finding, at.now.definition, at.now.compiled.layers.reaches)
    if len(found) == 1 and found[0].action is AdvisedAction.SET:  # it asks for the value anyway
        _take(at, found[0])
    elif len(found) == 1:
        if at.talk.agreed(_question(found[0]), default=finding.is_error):
            _take(at, found[0])
    elif found:
        choices = {str(number): _question(each).rstrip("?") for number, each in enumerate(found, 1)}
        said = at.talk.choose({**choices, "": "leave it for now"})
        if said:
            _take(at, found[int(said) - 1])


def _question(found: Advice) -> str:
    name = safe(found.name)
    match found.action:
        case AdvisedAction.ADD:
            return f"Add {name} here as well?"
        case AdvisedAction.REMOVE:
            return f"Remove {name}{f', which brings {safe(found.included)}' if found.included else ''}?"
        case AdvisedAction.SET:
            return f"Set {name} here?"
        case AdvisedAction.UNSET:
            return f"Unset {name} here?"


def _take(at: Conversation, found: Advice) -> None:
    """Do what was offered; what it brings about is looked at in turn."""
    before = at.now
    try:
        match found.action:
            case AdvisedAction.ADD:
                add_feature(at, found.name)
            case AdvisedAction.REMOVE if remove_feature(at, found.name):
                _drop_idle(at, before)
            case AdvisedAction.SET:
                ask_value(at, found.name)
            case AdvisedAction.UNSET:
                drop_param(at, found.name)
    except GitcfgError as error:
        at.talk.warn(error)


def print_reach(at: Conversation) -> None:
    """How far everything that was done reaches, in one line."""
    _print_reach(at, "so far: ", stat=False)


def print_changes(at: Conversation) -> None:
    """The same with what changes on which nodes."""
    _print_reach(at, "", stat=True)


def _print_reach(at: Conversation, head: str, stat: bool) -> None:
    if not at.now.nodes and not at.base.nodes:
        at.talk.tell("No node changes: none is made from this yet.")
        return
    found = at.now.since(at.base)
    if stat:
        changes.print_stat(at.talk.console, found)
    at.talk.console.print(head, style="dim", end="")
    changes.print_reach(at.talk.console, found)


def find_new_problems(at: Conversation) -> tuple[Finding, ...]:
    """What was not wrong when it began."""
    return unlike(at.now.findings, at.base.findings)
