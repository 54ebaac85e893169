"""What is configured, for eyes: where it stands, its features with their positions, its parameters."""

from collections.abc import Iterable, Iterator

from rich.text import Text

from gitcfg.cli.configure.seen import Seen
from gitcfg.compile.nodes import Roster, said
from gitcfg.edit.draft import Draft
from gitcfg.edit.yaml.scalars import to_yaml
from gitcfg.edit.yaml.tree import Meaning
from gitcfg.explain.trail import given
from gitcfg.model import Model, Use
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import counted, safe


def shown(seen: Seen, draft: Draft) -> Iterator[Text]:
    """Everything that may be changed here, and what stands below it."""
    found, target = seen.definition, seen.target
    file = found.origin.file if found is not None else None
    yield Text(target.label, "bold") + Text(f"  {file or 'has no file of its own yet'}", "blue")
    for line in (found.description if found is not None else "").strip().splitlines():
        yield Text(f"  {safe(line)}", "italic")
    yield from _standing(seen)
    yield from _features(draft.meaning(file, "features") if file else None)
    if target.kind != "group":
        yield from _below(seen.fleet.model, seen)
    params = draft.meaning(file, "params") if file else None
    yield Text(f"parameters set here:{'' if isinstance(params, dict) and params else ' none'}", "cyan")
    for name, value in params.items() if isinstance(params, dict) else ():
        yield Text(f"  {safe(name)}: ", "bold") + Text(safe(to_yaml(value)))


def _standing(seen: Seen) -> Iterator[Text]:
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


def _features(found: Meaning | None) -> Iterator[Text]:
    """The definition's own list. Positions count in it."""
    word = ""
    if isinstance(found, dict):
        word, found = next(iter(found.items()), ("", None))
    items = found if isinstance(found, list) else []
    composed = f" ({word} to what its node set lists)" if word else ""
    yield Text(f"features{composed}, highest first:{'' if items else ' none'}", "cyan")
    for number, item in enumerate(items):
        yield Text(f"  {number}  ", "dim") + Text(safe(to_yaml(item)))


def _below(model: Model, seen: Seen) -> Iterator[Text]:
    """What a node, or all of a set, has of its set and its groups, highest first."""
    roster, name = Roster(model), seen.target.name
    alone = seen.target.kind == "node"
    told = roster.said(name) if alone else said(None, model.nodesets[name])
    if alone and told.nodeset is not None:
        yield _inherited(f"node set {told.nodeset.name}", given(told.nodeset.definition.features))
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
