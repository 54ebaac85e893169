"""The lists of `gitcfg configure`: nodes, parameters, features, groups and snapshots of the draft."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from textwrap import shorten

from rich.text import Text

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.show import format_definition
from gitcfg.cli.trails import aligned, as_text
from gitcfg.edit.configure import match_name
from gitcfg.explain.show import define, find_kind
from gitcfg.explain.trail import walk_layers
from gitcfg.git.refs import Snapshots
from gitcfg.model.text import counted, few, safe
from gitcfg.nodeset import abridged

_MOST = 30
"""The most lines that leave the question above them visible on an ordinary terminal."""
_SHORTEST = 20
Row = tuple[str, ...]
"""The cells of a line; the first is the name, the last may be shortened."""


def print_listing(at: Conversation, subject: str, name: str) -> None:
    """Print everything of a kind, or one thing by its name, or all things whose names begin with a text.

    Raise GitcfgError if the thing does not exist.
    """
    if subject == "snapshot":
        _print_snapshots(at, name)
        return
    if subject == "node" and not name:
        _print_nodes(at)
        return
    fleet = at.now.fleet
    known = _NAMES[subject](at)
    found = match_name(name, known) if name else None
    if found is None or found.is_prefix:
        _print_rows(at, subject, found.near if found is not None else tuple(sorted(known)))
        return
    kind = find_kind(subject)
    definition = define(fleet.compiled, fleet.engine, kind, found.sure or name)
    at.talk.lines(format_definition(kind, definition))


_NAMES: Mapping[str, Callable[[Conversation], Collection[str]]] = {
    "node": lambda at: at.now.fleet.roster.names(),
    "parameter": lambda at: at.now.fleet.model.parameters.keys(),
    "feature": lambda at: at.now.fleet.model.features.keys(),
    "group": lambda at: at.now.fleet.model.groups.keys(),
}


def _print_rows(at: Conversation, subject: str, names: Collection[str]) -> None:
    """Print a line for each name. Those that are in use here come first, and are marked."""
    if not names:
        at.talk.tell(f"There is no {subject}.")
        return
    here = _find_used(at, subject) & set(names)
    ordered = sorted(names, key=lambda name: (name not in here, name))
    heads, cells = _COLUMNS[subject](at)
    rows = [(name, *cells(name)) for name in ordered[:_MOST]]
    _print_table(at, (subject, *heads), rows, here)
    more = len(ordered) - _MOST
    if more > 0:
        at.talk.tell(f"... and {more:,} more: `show {subject}s A` lists those that begin with A.", "dim")
    if here:
        at.talk.tell(f"* in use on {_describe_nodes(at)}", "dim")


def _describe_nodes(at: Conversation) -> str:
    if at.target.kind == "node":
        return safe(at.target.name)
    return (
        f"{counted(len(at.now.nodes), 'node')} of the {safe(at.target.label)}"
        if at.now.nodes
        else "its nodes"
    )


def _print_table(at: Conversation, heads: Row, rows: Sequence[Row], marked: Collection[str]) -> None:
    """Print rows in columns; the last cell is cut to the terminal's width."""
    widths = [
        max(map(len, map(safe, column)))
        for column in zip(heads[:-1], *(row[:-1] for row in rows), strict=True)
    ]
    left = max(_SHORTEST, at.talk.console.width - sum(widths) - 2 * len(widths) - 3)
    lines = [(Text(" "), *(Text(head, "dim") for head in heads))]
    for name, *cells, last in rows:
        mark = Text("*" if name in marked else " ", "green")
        cut = Text(safe(shorten(last, left, placeholder="...")))
        lines.append((mark, Text(safe(name), "bold"), *(Text(safe(cell)) for cell in cells), cut))
    at.talk.lines(aligned(lines))


def _find_used(at: Conversation, subject: str) -> set[str]:
    """Return the names of a kind that some of the nodes here have."""
    found = set[str]()
    for each in at.now.classes:
        match subject:
            case "feature":
                found |= each.features
            case "group":
                found |= {*each.groups, at.now.fleet.model.settings.default_group}
            case "parameter":
                found.update(*(part.cells for part in each.parts))
            case _:
                found.update(at.now.nodes)
    return found


# The columns of each kind.

_Columns = tuple[Row, Callable[[str], Row]]


def _describe_features(at: Conversation) -> _Columns:
    features = at.now.fleet.model.features
    return ("description",), lambda name: (_first_line(features[name].description),)


def _describe_groups(at: Conversation) -> _Columns:
    groups = at.now.fleet.model.groups
    return ("description",), lambda name: (_first_line(groups[name].description),)


def _describe_parameters(at: Conversation) -> _Columns:
    """Return the type and default of a parameter, and which layers set it."""
    model = at.now.fleet.model
    layers = defaultdict[str, list[str]](list)
    for label, layer in walk_layers(model):
        for name in layer.params:
            layers[name].append(label)

    def cells(name: str) -> Row:
        found = model.parameters[name]
        if found.must_change:
            default = "(must be set)"
        else:
            default = (
                shorten(as_text(found.default.given), _SHORTEST, placeholder="...") if found.default else ""
            )
        return found.type or "", default, few(layers[name], 2)

    return ("type", "default", "set in"), cells


def _describe_members(at: Conversation) -> _Columns:
    definition = at.now.fleet.roster.definition
    return ("groups",), lambda name: (", ".join(ref.name for ref in definition(name).groups),)


_COLUMNS: Mapping[str, Callable[[Conversation], _Columns]] = {
    "node": _describe_members,
    "parameter": _describe_parameters,
    "feature": _describe_features,
    "group": _describe_groups,
}


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _print_nodes(at: Conversation) -> None:
    """Print the nodes of the target, those with the same groups in one line."""
    definition = at.now.fleet.roster.definition
    alike = defaultdict[str, list[str]](list)
    for name in at.now.nodes:
        alike[", ".join(ref.name for ref in definition(name).groups)].append(name)
    if not alike:
        at.talk.tell(f"No node is in the {safe(at.target.label)}.")
        return
    rows = [(abridged(names), str(len(names)), groups) for groups, names in alike.items()]
    _print_table(at, ("nodes", "", "groups"), rows, ())


def _print_snapshots(at: Conversation, name: str) -> None:
    from gitcfg.cli.snapshot import format_snapshot

    snapshots = Snapshots(at.source.repository)
    if name:
        found = match_name(name, [each.name for each in snapshots.all()]).sure
        one = snapshots.named(found or name)
        at.talk.tell(format_snapshot(one), "bold")
        at.talk.lines(Text(f"  {safe(line)}") for line in one.message.splitlines())
        return
    every = tuple(snapshots.all())
    at.talk.lines(Text(format_snapshot(each)) for each in every[-_MOST:])
    at.talk.tell(f"{counted(len(every), 'snapshot')}." if every else "There are no snapshots.", "dim")
