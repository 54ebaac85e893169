"""`gitcfg inventory`: nodes with the commits that they run, and the times of their last check-ins."""

import csv
import io
import time
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from gitcfg.cli.declaration import WhereOption, command
from gitcfg.cli.nodes import choose_nodes, expand_names, find_node
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.server_state import (
    Database,
    Server,
    StateFolder,
    StateQuery,
    Token,
    find_node_states,
    note_on_tip,
    state_query,
)
from gitcfg.cli.session import Output, Session, write
from gitcfg.inventory.keys import find_with_other_key
from gitcfg.inventory.nodes import (
    GitNode,
    InventoryNode,
    NodeStatus,
    Tip,
    describe_nodes,
    find_behind,
    find_failing,
    join_nodes,
)
from gitcfg.inventory.nodes import count_by_status as by_state
from gitcfg.inventory.records import COLUMNS, TIMES, get_value, inventory_to_json, select_nodes
from gitcfg.library import Fleet, Source
from gitcfg.load.keys import fingerprint
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.text import ABBREVIATED, counted, format_age, safe
from gitcfg.nodeset import abridged

if TYPE_CHECKING:
    from rich.text import Text

    from gitcfg.git.repository import Repository
    from gitcfg.state.records import NodeState


EPILOG = """States: ok, behind, failed, refused, reverted, away, drifted, held, never, pending, retired, gone.
Without a server or its database, it shows what git has and what was deployed from here. Conditions can also
use node.state, node.checkin, node.since, node.commit, node.outcome, node.via (agent, deploy), node.drifted,
node.version, node.seen (facts from the node) and age(TIME).

Examples:

  gitcfg inventory                                       all nodes, and how many are in each state

  gitcfg inventory --where 'age(node.checkin) > duration("2h") && "rack3" in node.groups' --sort checkin

  gitcfg inventory @gpu --columns name,state,facts -o csv"""
_NODES = typer.Argument(help="Nodes: names, exec[001-100], @group.", metavar="NODES")
_SORT = typer.Option(help="Column to sort by; -COLUMN reverses the order.", metavar="COLUMN")
_COLUMNS = typer.Option(help="Columns of the table or CSV.", metavar="COLUMN,COLUMN")
_AT = typer.Option(help="The commit that nodes should run; default: HEAD.", metavar="REV")
_SEEN = ("name", "state", "commit", "since", "checkin", "deployed", "who", "groups", "labels", "overdue")
_GIT = ("name", "state", "hold", "groups", "labels", "overdue")
_STYLES = {
    NodeStatus.OK: "green",
    **dict.fromkeys((NodeStatus.FAILED, NodeStatus.REFUSED, NodeStatus.REVERTED), "red"),
    **dict.fromkeys((NodeStatus.DRIFTED, NodeStatus.AWAY), "yellow"),
}
_IDS = ("commit", "failed", "digest")


class Form(StrEnum):
    """The form of an inventory: a table is for people, the rest for programs."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    CSV = "csv"


class InventoryQuery(msgspec.Struct, frozen=True):
    """The nodes to list, the commit, and the order."""

    words: tuple[str, ...]
    where: str | None
    sort: str
    at: str | None
    database: StateQuery


class Inventory(msgspec.Struct, frozen=True):
    """The nodes; `tip` is the commit that they should run, `seen` whether there are reports of nodes.

    `notes` are about a branch whose tip is not accepted, and nodes that use another key.
    """

    tip: str | None
    now: float
    seen: bool
    places: tuple[InventoryNode, ...]
    notes: tuple[str, ...] = ()


@command(EPILOG, Items("gitcfg.inventory/1", "nodes", "standing"))
def inventory(
    context: typer.Context,
    nodes: Annotated[list[str] | None, _NODES] = None,
    where: WhereOption = None,
    sort: Annotated[str, _SORT] = "name",
    columns: Annotated[str | None, _COLUMNS] = None,
    at: Annotated[str | None, _AT] = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: Annotated[Form, typer.Option("-o", "--output", help="Output format.")] = Form.TABLE,
) -> None:
    """List nodes with what they run and when they last checked in."""
    if columns is not None and output not in (Form.TABLE, Form.CSV):
        raise GitcfgError(f"-o {output} has all columns.", "Use --columns with a table or CSV.")
    session: Session = context.obj
    now = time.time()
    state = state_query(context, database, folder, server, token)
    inventory = find_inventory(
        session.open(), InventoryQuery(tuple(nodes or ()), where, sort, at, state), now
    )
    print_inventory(session, inventory, columns, output.value)
    for note in inventory.notes:
        session.console(stderr=True).print(note)


def find_inventory(source: Source, query: InventoryQuery, now: float) -> Inventory:
    """Return the inventory. Raise GitcfgError if a node, column or condition is wrong.

    Its commit is the one that nodes should run; if there is no commit, the work tree.
    """
    column = check_column(query.sort.removeprefix("-"))
    reports = load_reports(source, query.database)
    branch = note_on_tip(source.repository, query.database)
    has_commit = query.at is not None or source.repository.knows("HEAD")
    with source.at(query.at or "HEAD") if has_commit else source.worktree() as fleet:
        tip = _find_tip(source, fleet, reports.nodes.values(), now)
        places = reports.places(describe_nodes(fleet, source.today), tip)
        places = _choose_places(fleet, places, query.words)
        if query.where is not None:
            places = select_nodes(places, fleet, query.where, now if reports.any else None)
        notes = tuple(filter(None, (branch, _note_on_keys(fleet, places))))
        places = tuple(
            sorted(
                places, key=lambda place: _rank(get_value(place, column)), reverse=query.sort.startswith("-")
            )
        )
        return Inventory(fleet.commit, now, reports.any, places, notes)


def _rank(value: Any) -> tuple[bool, Any]:
    """Return the key for sorting by a value; no value comes first."""
    if value is None:
        return False, 0
    return True, str(value) if isinstance(value, list | dict) else value


class NodeReports(msgspec.Struct, frozen=True):
    """The reports of nodes; `complete`: a node without a report never came."""

    nodes: "Mapping[str, NodeState]"
    complete: bool

    @property
    def any(self) -> bool:
        """Whether there are any reports."""
        return self.complete or bool(self.nodes)

    def places(self, git: Mapping[str, GitNode], tip: Tip) -> tuple[InventoryNode, ...]:
        """Return all nodes, in order of name."""
        if self.complete:
            return join_nodes(git, self.nodes, tip)
        there = {name: node for name, node in git.items() if name in self.nodes}
        others = {name: node for name, node in git.items() if name not in self.nodes}
        both = (*join_nodes(there, self.nodes, tip), *join_nodes(others, None, tip))
        return tuple(sorted(both, key=lambda place: place.name))


def load_reports(source: Source, query: StateQuery) -> NodeReports:
    """Return the reports in a server's state or, without one, the deploys from here."""
    found = find_node_states(source.repository, query, facts=True)
    if found is not None:
        return NodeReports({one.node: one for one in found}, True)
    return NodeReports({one.node: one for one in _deploy_reports(source.repository)}, False)


def _deploy_reports(repository: "Repository") -> "list[NodeState]":
    if repository.shared is None:
        return []
    from gitcfg.deploy.records import list_ids, runs_folder, runs_in_order

    folder = runs_folder(repository.shared)
    if not list_ids(folder):
        return []
    from gitcfg.deploy.reports import find_states

    return find_states(runs_in_order(folder))


def _note_on_keys(fleet: Fleet, places: tuple[InventoryNode, ...]) -> str:
    """Return a note on nodes that use another key than git has: they may look fine, and run nothing."""
    names = find_with_other_key(fleet, [place.seen for place in places if place.seen is not None])
    if not names:
        return ""
    come, them = ("uses", "it") if len(names) == 1 else ("use", "them")
    return f"note: {abridged(names)} {come} another key: `gitcfg node list --pending` shows {them}."


def check_column(column: str) -> str:
    """Return a column's name. Raise GitcfgError if it does not exist."""
    if not column:
        raise GitcfgError("A column has no name.", f"Use some of: {', '.join(COLUMNS)}.")
    if column not in COLUMNS:
        near = did_you_mean(column, COLUMNS) or f"Use one of: {', '.join(COLUMNS)}."
        raise GitcfgError(f"There is no column {shown(column)}.", near)
    return column


def _find_tip(source: Source, fleet: Fleet, states: "Collection[NodeState]", now: float) -> Tip:
    def open_older(commit: str) -> Fleet | None:
        return source.at(commit) if source.repository.knows(commit) else None

    behind = find_behind(fleet, states, source.cache, open_older, source.today)
    late = [one for one in states if one.node in behind]
    failed = find_failing(fleet, late, source.cache, open_older, source.today)
    walk_in = fleet.model.settings.walk_in
    return Tip(behind, None if walk_in is None else tuple(ref.name for ref in walk_in), now, failed)


def _choose_places(
    fleet: Fleet, places: tuple[InventoryNode, ...], words: tuple[str, ...]
) -> tuple[InventoryNode, ...]:
    """Return the nodes that words name, including those that only the database has."""
    if not words:
        return places
    groups = tuple(word for word in words if word.startswith("@"))
    plain = tuple(word for word in words if word not in groups)
    there = {place.name for place in places}
    named = {find_node(there, name) for name in expand_names(fleet.model.settings.max_nodes, plain)}
    named |= set(choose_nodes(fleet, groups)) if groups else set()
    return tuple(place for place in places if place.name in named)


def print_inventory(session: Session, inventory: Inventory, columns: str | None, form: str) -> None:
    """Write an inventory. Raise GitcfgError if a column does not exist."""
    names: tuple[str, ...] = _SEEN if inventory.seen else _GIT
    if columns is not None:
        names = tuple(check_column(name.strip()) for name in columns.split(","))
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        for place in inventory.places:
            writer.writerow([_format_value(name, get_value(place, name)) for name in names])
        write(text.getvalue())
    elif form != "table":
        record = inventory_to_json(inventory.tip, inventory.now, inventory.places)
        write_record(record, Output(form))
    else:
        _print_table(session, inventory, names, columns is None)


def _print_table(session: Session, inventory: Inventory, names: tuple[str, ...], default: bool) -> None:
    """Print a table; of the default columns only those with a value."""
    from rich.text import Text

    from gitcfg.cli.trails import aligned

    console = session.console()
    if inventory.places:
        rows = [tuple(_format_cell(one, name, inventory.now) for name in names) for one in inventory.places]
        shown = [at for at in range(len(names)) if not default or any(row[at].plain for row in rows)]
        head = tuple(Text(names[at].replace("_", " "), "dim") for at in shown)
        for line in aligned([head, *(tuple(row[at] for at in shown) for row in rows)]):
            console.print(line)
    session.console(stderr=True).print(_format_summary(inventory))


def _format_summary(inventory: Inventory) -> str:
    number = counted(len(inventory.places), "node")
    states = [f"{number} {state}" for state, number in by_state(inventory.places).items()]
    unknown = sum(place.state is None for place in inventory.places)
    if inventory.seen and states and unknown:  # the two together are all nodes
        states.append(
            f"{unknown} unknown, because nothing was deployed to {'it' if unknown == 1 else 'them'} from here"
        )
    tip = f" The tip is {inventory.tip[:ABBREVIATED]}." if inventory.tip and inventory.seen else ""
    return f"{number}: {', '.join(states)}.{tip}" if states else f"{number}."


def _format_cell(place: InventoryNode, name: str, now: float) -> "Text":
    from rich.text import Text

    value = get_value(place, name)
    if name == "state":
        return Text(value or "", _STYLES.get(place.state, "") if place.state is not None else "")
    if name in TIMES and value is not None:
        return Text(format_age(now - value))
    if name in _IDS and value is not None:
        return Text(safe(value[:ABBREVIATED]))
    return Text(safe(_format_value(name, value)), "bold" if name == "name" else "")


def _format_value(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == "key":
        return fingerprint(value)
    if name == "overdue":
        return ", ".join(f"{override} since {day}" for override, day in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else f"{value}"
