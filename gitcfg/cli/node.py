"""`gitcfg node`: nodes' keys, which are accepted into git, listed and forgotten, and policies of agents."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from gitcfg.cli import edits as editing
from gitcfg.cli.declaration import (
    AtOption,
    Group,
    NodesArgument,
    OutputOption,
    WhereOption,
    YesOption,
    command,
)
from gitcfg.cli.edits import EditResult, apply_edit, write_result
from gitcfg.cli.nodes import choose_nodes, expand_names
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.server_state import (
    Database,
    Server,
    StateFolder,
    StateQuery,
    Token,
    ask_server,
    find_database,
    find_node_states,
    load_node_states,
    no_state,
    open_state,
    state_query,
)
from gitcfg.cli.session import Output, Session, can_ask, confirm, write
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged, fold

if TYPE_CHECKING:
    from rich.text import Text

    from gitcfg.delivery.policy import Needs
    from gitcfg.edit.draft import Draft
    from gitcfg.inventory.keys import NodeKey
    from gitcfg.library import Fleet, Source
    from gitcfg.state.records import NodeState

_ACCEPT_EPILOG = """\
Compare the fingerprint with what `gitcfg-agent key` prints on the node. Of a @group, or with
--where, the nodes that have asked the server are accepted; a node that is named must have asked.
Keys come from nodes that have asked the server, or from a file with lines NODE ssh-ed25519 AAAA...,
which may be OpenSSH's own (*.pub) for one node.

Examples:

  gitcfg node accept @rack3 --yes --commit                   all of a rack that have asked, without a question

  gitcfg node accept exec042 --from exec042.pub --replace    it was installed again

  gitcfg node accept exec042 --fingerprint SHA256:2Yef...    several keys compete for its name"""
_LIST_EPILOG = """Examples:

  gitcfg node list --pending                     who waits to be accepted

  gitcfg node list -o json

  gitcfg node list --pending --server https://config.example.com"""
_FORGET_EPILOG = """A forgotten node is not accepted any more. It can apply again, also with another key.
Of a stranger, and of a node that is gone, the server forgets all.

Examples:

  gitcfg node forget exec042.example.org                  it was scrapped

  gitcfg node forget 'exec[001-100]' --commit -m 'Rack 3 is gone'

  gitcfg node forget stranger --server https://config.example.com"""
_FROM = typer.Option("--from", help="A file with keys; - is stdin.", metavar="FILE")
_NODES = typer.Argument(
    help="Nodes: names, exec[001-100], @group; default: all in the file.", metavar="NODES"
)
_WHERE = typer.Option(help="Only nodes for which this condition is true in git.", metavar="CEL")
_FINGERPRINT = typer.Option(
    "--fingerprint",
    help="Only this key (SHA256:...), as `gitcfg-agent key` shows it; may be repeated.",
    metavar="FINGERPRINT",
    show_default=False,
)
_REPLACE = typer.Option("--replace", help="Replace the key of a node that already has one.")
_PENDING = typer.Option("--pending", help="Only nodes that are not accepted.")
_UNKNOWN_HINT = "To forget a node that is not accepted, name its server with --server, --database or --state."
_LIST = "Run `gitcfg node list --pending` to list the nodes that wait."
_SHOWN = 10
"""The most competing keys that an error shows."""


@command(_ACCEPT_EPILOG, editing.EDIT)
def accept_nodes(
    context: typer.Context,
    nodes: Annotated[list[str] | None, _NODES] = None,
    file: Annotated[str | None, _FROM] = None,
    replace: Annotated[bool, _REPLACE] = False,
    fingerprint: Annotated[list[str] | None, _FINGERPRINT] = None,
    yes: YesOption = False,
    where: Annotated[str | None, _WHERE] = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Accept nodes: confirm their fingerprints, and write their keys to keys/."""
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.keys import KnownKeys, accept_keys
    from gitcfg.load.keys import fingerprint as fingerprint_of

    session: Session = context.obj
    source = session.open()
    where_state = state_query(context, database, folder, server, token)
    another = KnownKeys.REPLACE if replace else KnownKeys.KEEP
    if not yes and not can_ask():
        reason = "You must confirm the keys, but there is no terminal."
        raise GitcfgError(reason, "Use --yes to confirm them.")
    query = KeyQuery(tuple(nodes or ()), where, file, tuple(fingerprint or ()))
    keys = find_keys(source, query, where_state)

    def work(draft: Draft) -> None:
        accept_keys(draft, keys, another)

    work(Draft(source.repository.worktree()))  # before the question, because it may be refused
    facts = {"keys": [{"node": name, "fingerprint": fingerprint_of(key)} for name, key in keys.items()]}
    if not confirm_keys(session, keys, yes, output):
        return write_result(session, EditResult({}, refused=True), output, facts)
    subject = f"Accept {'node' if len(keys) == 1 else 'nodes'} {abridged(keys)}"
    options = editing.make_options(force, commit, message, subject, output=output)
    return apply_edit(session, work, options, facts)


class KeyQuery(msgspec.Struct, frozen=True):
    """The nodes (words, a condition), a file with keys in place of the server, and fingerprints to accept."""

    words: tuple[str, ...]
    where: str | None
    file: str | None
    fingerprints: tuple[str, ...] = ()


def find_keys(source: "Source", query: KeyQuery, where_state: StateQuery) -> dict[str, str]:
    """Return the keys of the nodes, in order of name. Raise GitcfgError if a named node has none."""
    everybody = not query.words and query.where is None
    if query.file is None and everybody:
        raise GitcfgError("No nodes are selected.", _LIST)
    with source.worktree() as fleet:
        must, may = _find_nodes(fleet, query)
        if query.file is None:
            whence, found = "The server", _find_reported_keys(fleet, source, where_state)
        else:
            whence, found = shown(query.file), _read_keys(query.file, must)
    missing = sorted(set(must) - found.keys())
    if missing:
        hint = "Remove them, and accept them later."
        raise GitcfgError(f"{whence} has no key of {abridged(missing)}.", hint)
    names = set(found) if everybody else {*must, *(may & found.keys())}
    if not names and everybody:
        raise GitcfgError(f"{whence} contains no keys.", "Run `gitcfg-agent key` on a node to print its key.")
    if not names:
        raise GitcfgError(f"{whence} has no keys of these nodes.", _LIST)
    return _choose_keys({name: found[name] for name in sorted(names)}, query.fingerprints)


def _find_nodes(fleet: "Fleet", query: KeyQuery) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the named nodes, which must have a key, and those of groups and conditions, which may."""
    groups = tuple(word for word in query.words if word.startswith("@"))
    plain = expand_names(fleet.model.settings.max_nodes, (word for word in query.words if word not in groups))
    may = frozenset(choose_nodes(fleet, groups)) if groups else frozenset()
    if query.where is None:
        return plain, may
    selected = frozenset(choose_nodes(fleet, (), query.where))
    return tuple(name for name in plain if name in selected), may & selected if query.words else selected


def _find_reported_keys(
    fleet: "Fleet", source: "Source", where_state: StateQuery
) -> "dict[str, list[NodeKey]]":
    """Return the keys with which nodes came to the server; for accepted nodes their other keys, if any."""
    from gitcfg.inventory.keys import KeyState, NodeKey, list_keys

    states = find_node_states(source.repository, where_state)
    if states is None:
        raise GitcfgError("There is no source of keys.", "Use --from FILE.", *no_state().hints)
    found: dict[str, list[NodeKey]] = {}
    for one in list_keys(fleet, states):
        if one.how is not KeyState.ACCEPTED:
            found.setdefault(one.node, []).append(one)
    for state in states:
        if state.key and state.node not in found:  # accepted already, so there is nothing to do
            found[state.node] = [NodeKey(state.node, state.key, KeyState.PENDING)]
    return found


def _read_keys(file: str, names: tuple[str, ...]) -> "dict[str, list[NodeKey]]":
    from gitcfg.edit.keys import parse_keys
    from gitcfg.inventory.keys import KeyState, NodeKey

    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    keys = parse_keys(data, names[0] if len(names) == 1 else None)
    return {name: [NodeKey(name, key, KeyState.PENDING)] for name, key in keys.items()}


def _choose_keys(candidates: "Mapping[str, list[NodeKey]]", fingerprints: tuple[str, ...]) -> dict[str, str]:
    """Choose one key for each node. Raise GitcfgError if several compete, or none has a given fingerprint."""
    from gitcfg.load.keys import fingerprint

    chosen = {one if one.startswith("SHA256:") else f"SHA256:{one}" for one in fingerprints}
    unused = set(chosen)
    found: dict[str, str] = {}
    for name, every in candidates.items():
        fit = [one for one in every if fingerprint(one.key) in chosen] if chosen else every
        if len(fit) != 1:
            raise _ambiguous_key_error(name, every, bool(chosen))
        found[name] = fit[0].key
        unused.discard(fingerprint(fit[0].key))
    if unused:
        raise GitcfgError(f"None of these nodes has a key {shown(min(unused))}.", _LIST)
    return found


def _ambiguous_key_error(name: str, every: "list[NodeKey]", by_fingerprint: bool) -> GitcfgError:
    from gitcfg.load.keys import fingerprint

    lines = [f"  {fingerprint(one.key)}  {describe_arrival(one)}" for one in every[:_SHOWN]]
    if len(every) > _SHOWN:
        lines.append(f"  and {len(every) - _SHOWN} more")
    hint = "Choose one with --fingerprint SHA256:.... Run `gitcfg-agent key` on the node to show it."
    message = f"{counted(len(every), 'key')} claim to be {shown(name)}, and only one can be right:"
    if by_fingerprint:
        message = f"{shown(name)} does not have this key, but:"
    return GitcfgError("\n".join((message, *lines)), hint, code=REFUSED)


def confirm_keys(session: Session, keys: Mapping[str, str], yes: bool, output: Output) -> bool:
    """Print keys' fingerprints for people, and return whether the keys may be accepted."""
    from gitcfg.load.keys import fingerprint

    width = max(map(len, keys))
    lines = [f"{safe(name):<{width}}  {fingerprint(key)}\n" for name, key in keys.items()]
    if output is Output.TEXT:
        (session if yes else session.without_pager()).write("".join(lines))
    elif not yes:  # stdout is for the record
        print("".join(lines), end="", file=sys.stderr)
    if yes:
        return True
    question = "Is that its key?" if len(keys) == 1 else f"Are those {counted(len(keys), 'key')} theirs?"
    if confirm(question):
        return True
    session.console(stderr=True).print("Nothing was changed.")
    return False


@command(_LIST_EPILOG, Items("gitcfg.keys/1", "keys", "key"))
def list_nodes(
    context: typer.Context,
    pending: Annotated[bool, _PENDING] = False,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> None:
    """List the keys of nodes: those in git, and those that wait on the server."""
    from gitcfg.inventory.keys import keys_to_json, list_keys

    session: Session = context.obj
    source = session.open()
    with source.worktree() as fleet:
        states = find_node_states(source.repository, state_query(context, database, folder, server, token))
        if states is None and pending:
            reason = "Only the server knows pending nodes, and there is no state of a server here."
            raise GitcfgError(reason, *no_state().hints)
        every = list_keys(fleet, states or ())
        found = [one for one in every if one.how.waits] if pending else every
    if output is not Output.TEXT:
        write_record(keys_to_json(found), output)
        return
    console = session.console()
    for line in _format_keys(found):
        console.print(line)
    if not found:
        session.console(stderr=True).print("No node is pending." if pending else "No node has a key.")


def _format_keys(found: "Iterable[NodeKey]") -> "Iterator[Text]":
    from rich.text import Text

    from gitcfg.cli.trails import aligned, place_text
    from gitcfg.load.keys import fingerprint

    rows = []
    for one in found:
        arrival = (
            Text(safe(describe_arrival(one)), "yellow") if one.origin is None else place_text(one.origin)
        )
        rows.append((Text(safe(one.node), "bold"), Text(fingerprint(one.key)), arrival))
    return aligned(rows)


def describe_arrival(one: "NodeKey") -> str:
    """Format how a key that git does not have came: `pending 10.0.0.1, 2 min ago, first 3 d ago`."""
    from gitcfg.model.text import format_age

    parts = [f"{one.how.value} {one.address}".rstrip()]
    if one.last is not None:
        now = time.time()
        parts.append(format_age(now - one.last))
        if one.first is not None and format_age(now - one.first) != parts[-1]:
            parts.append(f"first {format_age(now - one.first)}")
    return ", ".join(parts)


@command(_FORGET_EPILOG, editing.EDIT)
def forget_nodes(
    context: typer.Context,
    nodes: Annotated[list[str], typer.Argument(help="The nodes.", metavar="NODES...")],
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Forget nodes: remove their keys from keys/ or, before they are accepted, from the server."""
    from gitcfg.edit.keys import forget_keys

    session: Session = context.obj
    source = session.open()
    with source.worktree() as fleet:
        names = expand_names(fleet.model.settings.max_nodes, nodes)
        accepted = [name for name in names if name in fleet.model.keys]
    others = [name for name in names if name not in accepted]
    if others:
        _forget_on_server(source, others, state_query(context, database, folder, server, token))
    if output is Output.TEXT:
        session.write("".join(f"forgot {safe(name)}\n" for name in others))
    facts = {"forgotten": others}
    if not accepted:
        return 0 if output is Output.TEXT else write_result(session, EditResult({}), output, facts)

    def work(draft: "Draft") -> None:
        forget_keys(draft, accepted)

    options = editing.make_options(force, commit, message, f"Forget {abridged(accepted)}", output=output)
    return apply_edit(session, work, options, facts)


def _forget_on_server(source: "Source", names: list[str], where: StateQuery) -> None:
    """Make the server forget nodes. Raise GitcfgError if it does not know one, or there is no server."""
    if where.server is not None:
        from urllib.parse import quote

        _refuse_unknown(names, load_node_states(source.repository, where))
        for name in names:
            ask_server(where.server, where.token, f"/v1/nodes/{quote(name, safe='')}/forget", "POST")
        return
    if find_database(source.repository, where) is None:
        raise GitcfgError(f"The repository has no key of {safe(names[0])}.", _UNKNOWN_HINT)
    with open_state(source.repository, where) as state:
        _refuse_unknown(names, state.checkins.nodes())
        state.forget(names, time.time())


def _refuse_unknown(names: list[str], states: "Iterable[NodeState]") -> None:
    known = {one.node for one in states}
    unknown = [name for name in names if name not in known]
    if unknown:
        hint = "Run `gitcfg node list` or `gitcfg node list --pending` to list the keys."
        raise GitcfgError(f"Neither git nor the server has a key of {safe(unknown[0])}.", hint)


_POLICY_EPILOG = """Examples:

  gitcfg node policy exec001                           what to write into its agent.toml

  gitcfg node policy @gpu exec[001-100] --at main      what all of these need, at a commit

  gitcfg node policy --where '"gpu" in node.labels' -o json"""


@command(_POLICY_EPILOG, Items("gitcfg.policy/1", "commands", "permission"))
def show_policy(
    context: typer.Context,
    nodes: NodesArgument = None,
    where: WhereOption = None,
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show the paths and commands that nodes must allow, for agent.toml. Without nodes, show all."""
    from gitcfg.delivery.policy import find_needs

    session: Session = context.obj
    with session.fleet(at) as fleet:
        found = find_needs(fleet, choose_nodes(fleet, nodes or (), where))
        commit = fleet.commit
    if output is Output.TEXT:
        write("".join(f"{line}\n" for line in format_policy(found)))
        return 0
    write_record(policy_to_json(commit, found), output)
    return 0


def format_policy(found: "Needs") -> Iterator[str]:
    """Yield the lines of agent.toml."""
    yield f"# For {counted(len(found.nodes), 'node')}: {safe(abridged(found.nodes, IN_JSON))}"
    if found.retired:
        names = safe(abridged(found.retired, IN_JSON))
        yield f"# Retired nodes still need the policy that they had before (--at REV): {names}"
    if found.own or found.ending:
        forbidden = [*found.own, *(" ".join(words) for words in found.ending)]
        yield f"# Never allowed, so that no commit can disable the agent: {safe('; '.join(forbidden))}"
    yield "paths = ["
    for path in found.paths:
        files = f"  # for {counted(len(path.files), 'file')}: " if len(path.files) != 1 else ""
        names = safe(", ".join(file.rpartition("/")[2] for file in path.files)) if files else ""
        yield f"  {_quote(path.glob)},{files}{names}"
    yield "]"
    if any(one.assumed for one in found.commands):
        yield "# Programs that the repository names without a folder have their usual path here."
        yield "# Check the path on your nodes with `command -v NAME`."
    yield "commands = ["
    for one in found.commands:
        for risk in one.risks:
            yield f"  # {safe(risk)}:"
        if one.program is None:
            yield "  # No policy can allow this: name the program alone or with its full path."
            yield f"  # [{', '.join(map(_quote, one.words))}],"
        else:
            yield f"  [{', '.join(map(_quote, one.pattern))}],"
    yield "]"


def policy_to_json(commit: str | None, found: "Needs") -> dict[str, Any]:
    """Return `gitcfg.policy/1`: `paths` are globs, `pattern` is null if no policy can allow a command."""
    return {
        "schema": "gitcfg.policy/1",
        "commit": commit,
        "nodeset": fold(found.nodes),
        "count": len(found.nodes),
        "retired": list(found.retired),
        "paths": [{"glob": one.glob, "files": list(one.files)} for one in found.paths],
        "commands": [
            {
                "run": list(one.words),
                "pattern": None if one.program is None else list(one.pattern),
                "assumed": one.assumed,
                "risks": list(one.risks),
            }
            for one in found.commands
        ],
    }


def _quote(word: str) -> str:
    """Quote a word as TOML: characters that JSON leaves and TOML does not allow are escaped, too."""
    import json

    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")


node = Group(
    "Accept nodes by their keys, and show what they must allow.",
    {"accept": accept_nodes, "list": list_nodes, "forget": forget_nodes, "policy": show_policy},
)
