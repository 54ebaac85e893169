"""The views of `gitcfg configure`: what can be changed, the problems, and the changes."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from rich.text import Text

from gitcfg.check.results import unlike
from gitcfg.cli import changes, findings
from gitcfg.cli.configure.conversation import Conversation, TargetView
from gitcfg.cli.configure.listings import print_listing
from gitcfg.compile.nodes import Roster, define_node
from gitcfg.edit.configure import format_diff
from gitcfg.edit.draft import Draft
from gitcfg.edit.yaml.tree import Meaning, to_yaml
from gitcfg.explain.trail import added_items
from gitcfg.model import Finding, Model, Use
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import abridged


def format_state(seen: TargetView, draft: Draft) -> Iterator[Text]:
    """Yield everything that can be changed here, and what is below it."""
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


def _format_heading(seen: TargetView) -> Iterator[Text]:
    """Yield the target's nodes, and whether other definitions define it, too."""
    target, nodes = seen.target, seen.nodes
    if target.kind != "node":
        folded = safe(abridged(nodes)) if nodes else "none; it is checked as if it had one"
        yield Text(f"  {counted(len(nodes), 'node')}: ", "") + Text(folded, "magenta")
        return
    nodeset = Roster(seen.fleet.model).sets.get(target.name)
    if nodeset is not None:
        name = safe(nodeset.name)
        yield Text(f"  It is one of {counted(len(nodeset.members), 'node')} of the node set {name}.")
        yield Text(f"  Changes here apply to this node alone; `gitcfg configure nodeset/{name}`")
        yield Text("  changes all of them.")


def _format_features(found: Meaning | None) -> Iterator[Text]:
    """Yield the definition's own list, with positions."""
    word = ""
    if isinstance(found, dict):
        word, found = next(iter(found.items()), ("", None))
    items = found if isinstance(found, list) else []
    composed = f" ({word} to what its node set lists)" if word else ""
    yield Text(f"features{composed}, highest first:{'' if items else ' none'}", "cyan")
    for number, item in enumerate(items):
        yield Text(f"  {number}  ", "dim") + Text(safe(to_yaml(item)))


def _format_inherited(model: Model, seen: TargetView) -> Iterator[Text]:
    """Yield what a node, or all nodes of a set, get from the set and the groups, highest first."""
    roster, name = Roster(model), seen.target.name
    alone = seen.target.kind == "node"
    found = roster.definition(name) if alone else define_node(None, model.nodesets[name])
    if alone and found.nodeset is not None:
        yield _inherited(f"node set {found.nodeset.name}", added_items(found.nodeset.definition.features))
    if not found.groups:
        yield Text("only in the default group", "dim")
    for ref in found.groups:
        if ref.name in model.groups:
            yield _inherited(f"group {ref.name}", model.groups[ref.name].features)
    default = model.settings.default_group
    if default in model.groups:
        yield _inherited(f"group {default}, like all nodes", model.groups[default].features)


def _inherited(layer: str, uses: Iterable[Use]) -> Text:
    names = (use.feature if use.instance is None else f"{use.feature} as {use.instance}" for use in uses)
    return Text(f"from {safe(layer)}: ", "dim") + Text(safe(", ".join(names)) or "no feature")


def print_state(at: Conversation) -> None:
    """Print everything that can be changed here, and what is below it."""
    at.talk.lines(format_state(at.now, at.work.draft))


_COLOR = {"+": "green", "-": "red", "@": "cyan"}


def print_problems(at: Conversation) -> None:
    """Print the new problems, and the number of earlier ones."""
    new = find_new_problems(at)
    findings.print_findings(at.talk.console, at.now.fleet.tree, new, at.now.fleet.checked.every)
    older = len(at.now.findings) - len(new)
    besides = f" {counted(older, 'problem')} from before: `gitcfg check` shows them." if older else ""
    at.talk.tell(f"{counted(len(new), 'new problem')}.{besides}")


def print_diff(at: Conversation) -> None:
    """Print the changes of files and nodes."""
    if not at.work.draft.files:
        at.talk.tell("Nothing is changed yet.")
        return
    for line in format_diff(at.work.draft):
        at.talk.tell(Text(changes.safe_line(line), _COLOR.get(line[:1], "")))
    print_reach(at, whole=True)


def print_reach(at: Conversation, *, whole: bool = False) -> None:
    """Print the reach of all steps, in one line; `whole`: with the changes of nodes."""
    if not at.now.nodes and not at.base.nodes:
        at.talk.tell("No node changes: no node uses this yet.")
        return
    found = at.now.since(at.base)
    if whole:
        changes.print_stat(at.talk.console, found)
    if not whole and len(found):
        at.talk.console.print("so far: ", style="dim", end="")
    changes.print_reach(at.talk.console, found)


def find_new_problems(at: Conversation) -> tuple[Finding, ...]:
    """Return the problems that were not there when the dialog began."""
    return unlike(at.now.findings, at.base.findings)


# The show commands.

_STATES: Mapping[str, Callable[[Conversation], None]] = {
    "problems": print_problems,
    "diff": print_diff,
}
_LISTED = {each + "s": each for each in ("node", "parameter", "feature", "group", "snapshot")}
SUBJECTS = (*_LISTED, *_STATES)
"""The subjects of `show` besides the target; a text means the first that begins with it."""


def show(at: Conversation, text: str) -> bool:
    """Show the target, or a subject; return False if the text names none.

    Raise the GitcfgError of a listing.
    """
    word, _, name = text.strip().partition(" ")
    subject = next((each for each in SUBJECTS if word and each.startswith(word.lower())), None)
    if not word:
        print_state(at)
    elif subject in _LISTED:
        print_listing(at, _LISTED[subject], name.strip())
    elif subject is not None and not name:
        _STATES[subject](at)
    else:
        return False
    return True
