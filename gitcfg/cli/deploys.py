"""`gitcfg deploys`: the deploys over SSH from here, and their outcomes."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from msgspec.structs import replace

from gitcfg.cli.declaration import OutputOption, command
from gitcfg.cli.deploy.output import Line, fold_messages
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.server_state import (
    Database,
    Server,
    StateFolder,
    StateQuery,
    Token,
    Unreachable,
    ask_server,
    find_database,
    no_state,
    open_database,
    state_query,
)
from gitcfg.cli.session import Output, Session
from gitcfg.deploy.records import (
    WELL,
    NodeDone,
    RunRecord,
    find_run,
    find_runs_folder,
    find_unreported,
    note_reported,
    read_runs,
)
from gitcfg.deploy.reports import build_reports, count_outcomes, find_outcome, list_deployed
from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, format_age, safe
from gitcfg.nodeset import IN_JSON, abridged

if TYPE_CHECKING:
    from rich.text import Text

EPILOG = """A deploy ends as `done`, or with what stopped it. If its program was killed, it is `broken off`,
and the outcome of some nodes is unknown. `gitcfg deploy --resume RUN` continues with those that did not
succeed.

Examples:

  gitcfg deploys                            the last deploys, newest first

  gitcfg deploys 1pkd3a0                    one deploy: its id, a beginning or end of it, or last

  gitcfg deploys --send 1pkd3a0 --server https://config.example.com"""
_RUN = typer.Argument(help="A deploy: its id, the beginning or end of that, or last.", metavar="RUN")
_SEND = typer.Option(
    help="Report this deploy to the server or its database; repeats are ignored.", metavar="RUN"
)
_COLUMNS = ("deploy", "when", "who", "commit", "ended", "nodes")
_LINES = 10
_AT_ONCE = 1000
_STYLES = {**dict.fromkeys(WELL, "green"), **dict.fromkeys(("skipped", "refused", "waiting"), "yellow")}
_FIELDS = ("step", "output", "seconds", "changed", "commit", "digest", "agent", "at")


@command(EPILOG, Items("gitcfg.deploys/1", "deploys", "run"), Items("gitcfg.deployment/1", "nodes", "turn"))
def deploys(
    context: typer.Context,
    run: Annotated[str | None, _RUN] = None,
    send: Annotated[str | None, _SEND] = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """List the deploys over SSH from this repository, with person and time, or show one node by node."""
    session: Session = context.obj
    now = time.time()
    if send is not None:
        if run is not None or output is not Output.TEXT:
            raise GitcfgError(
                "--send reports one deploy, and cannot be combined with RUN or -o.", "Use it alone."
            )
        return send_deploy(session, send, state_query(context, database, folder, server, token), now)
    if run is not None:
        return show_deploy(session, run, output, now)
    return list_deploys(session, output, now)


def list_deploys(session: Session, output: Output, now: float) -> int:
    """List all deploys, the newest first."""
    notes: list[str] = []
    runs = _read_runs(find_runs_folder(session.open().repository), notes)
    if output is not Output.TEXT:
        write_record({"schema": "gitcfg.deploys/1", "deploys": list(map(run_to_json, runs))}, output)
    elif rows := [_format_row(record, now) for record in runs]:
        from rich.text import Text

        from gitcfg.cli.trails import aligned

        for line in aligned([tuple(Text(name, "dim") for name in _COLUMNS), *rows]):
            session.console().print(line)
    else:
        notes.append("Nothing was deployed from this repository yet.")
    for note in notes:
        session.console(stderr=True).print(note)
    return 0


def _read_runs(folder: Path, notes: list[str]) -> Iterator[RunRecord]:
    """Yield one record after the other, because some are large; `notes` gets the problems of files."""
    for found in read_runs(folder):
        if found.problem:
            notes.append(f"note: {safe(found.problem)}")
        if found.record is not None:
            yield found.record


def run_to_json(record: RunRecord) -> dict[str, Any]:
    """Return a deploy of `gitcfg.deploys/1`. Times are seconds since the epoch."""
    run, end, reported = record.run, record.end, record.reported
    return {
        "run": run.id,
        "target": run.commit,
        "who": run.who,
        "reason": run.reason,
        "begun": run.begun,
        "lasted": max(0.0, end.at - run.begun) if end is not None else None,
        "ended": record.ended,
        "because": end.because if end is not None else "",
        "resumes": run.resumes or None,
        "counts": dict(count_outcomes(record)),
        "told": {"place": reported.place, "at": reported.at} if reported is not None else None,
        "broken": record.broken,
    }


def _format_row(record: RunRecord, now: float) -> "tuple[Text, ...]":
    from rich.text import Text

    run, counts = record.run, count_outcomes(record)
    outcomes = ", ".join(f"{number} {word}" for word, number in counts.items())
    return (
        Text(run.id, "bold"),
        Text(format_age(now - run.begun)),
        Text(safe(run.who)),
        Text(safe(run.commit[:ABBREVIATED])),
        Text(safe(record.ended), "" if record.ended == "done" else "yellow"),
        Text(safe(outcomes) or "none", "green" if not set(counts) - set(WELL) else ""),
    )


def show_deploy(session: Session, run: str, output: Output, now: float) -> int:
    """Show one deploy. Raise GitcfgError if it does not exist."""
    record = find_run(find_runs_folder(session.open().repository), run)
    if output is not Output.TEXT:
        write_record(deployment_to_json(record), output)
        return 0
    console = session.console()
    for line in _format_deploy(record, now):
        console.print(line)
    return 0


def deployment_to_json(record: RunRecord) -> dict[str, Any]:
    """Return `gitcfg.deployment/1`: the nodes in the order of their turns; unknown values are null."""
    nodes = []
    for name in record.run.nodes:
        done = record.done.get(name)
        known = msgspec.to_builtins(done) if done is not None else {}
        fields = {field: known.get(field) for field in _FIELDS}
        nodes.append({"node": name, "outcome": find_outcome(record, name), **fields})
    return {"schema": "gitcfg.deployment/1", **run_to_json(record), "nodes": nodes}


def _format_deploy(record: RunRecord, now: float) -> "Iterator[Text]":
    from rich.text import Text

    run = record.run
    commit, age = safe(run.commit[:ABBREVIATED]), format_age(now - run.begun)
    head = f": commit {commit}, {age} by {safe(run.who)}, {safe(record.ended)}"
    yield Text(run.id, "bold").append(head, "not bold default")
    because = record.end.because if record.end is not None else ""
    for label, text in (("unreviewed", run.reason), ("resumes", run.resumes), ("because", because)):
        if text:
            yield Text(f"{label}: {safe(text)}")
    if record.broken:
        yield Text(f"{counted(record.broken, 'line')} of its record cannot be read", "yellow")
    for word in count_outcomes(record):
        nodes = (name for name in run.nodes if find_outcome(record, name) == word)
        messages = ((name, _describe_node(record.done.get(name))) for name in nodes)
        for lines, names in fold_messages(messages, trouble=True):
            line = Text(safe(word), _STYLES.get(word, "red"))
            line.append(f" {counted(len(names), 'node')}: ", "default")
            yield line.append(safe(abridged(names, IN_JSON)), "bold default")
            yield from (Text(f"  {safe(text)}", style) for text, style in lines)


def _describe_node(done: NodeDone | None) -> tuple[Line, ...]:
    """Return the lines below a node; for a successful one, what was fixed, or an earlier run's outcome."""
    if done is None:
        return ()
    step = ((f"at {done.step}", ""),) if done.step else ()
    lines = done.output.splitlines()
    over = len(lines) - _LINES
    before = ((f"... {counted(over, 'line')} earlier; -o json has all of them", "dim"),) if over > 0 else ()
    return (*step, *before, *((text, "dim") for text in lines[-_LINES:]))


def send_deploy(session: Session, run: str, query: StateQuery, now: float) -> int:
    """Send one deploy to a server. Raise GitcfgError if it does not exist, or no server accepts it."""
    repository = session.open().repository
    folder = find_runs_folder(repository)
    record = find_run(folder, run)
    receipt = send_run(repository, query, record, now)
    note_reported(folder, record.run.id, receipt.place, now)
    again = f"; it knew {receipt.known} already" if receipt.known else ""
    session.write(f"Reported {counted(receipt.new + receipt.known, 'node')} to {receipt.place}{again}.\n")
    for note in note_unknown_nodes(record.run.id, receipt):
        session.console(stderr=True).print(note)
    return 0


class Receipt(msgspec.Struct, frozen=True):
    """The server's answer to a run: where, how many nodes are new there, and which are unknown."""

    place: str
    new: int
    known: int
    unknown: tuple[str, ...] = ()


class _Answer(msgspec.Struct, frozen=True):
    new: int
    known: int
    unknown: tuple[str, ...]


def send_run(repository: Repository, query: StateQuery, record: RunRecord, now: float) -> Receipt:
    """Send a run. Raise GitcfgError if it is rejected, Unreachable if there is no answer."""
    if query.server is not None:
        return _send_over_http(query.server, query.token, record, now)
    url = find_database(repository, query)
    if url is None:
        raise no_state()
    # A time in the future would hide the reports of the node's own agent until then.
    deployed = [
        replace(one, result=replace(one.result, at=min(one.result.at, now))) for one in list_deployed(record)
    ]
    new = 0
    with open_database(url) as state:
        for at in range(0, len(deployed), _AT_ONCE):
            new += sum(state.deploys.record(deployed[at : at + _AT_ONCE]))
    return Receipt("the database", new, len(deployed) - new)


def send_unsent_runs(repository: Repository, query: StateQuery, folder: Path, now: float) -> list[str]:
    """Send all unsent runs, oldest first, if there is a server; return notes for the user.

    If that fails nothing is lost: the next deploy sends them, too.
    """
    if query.server is None and find_database(repository, query) is None:
        return []
    notes: list[str] = []
    failed: dict[str, tuple[GitcfgError, list[str]]] = {}
    away: Unreachable | None = None
    for record in filter(list_deployed, find_unreported(folder)):
        run = record.run.id
        if away is not None:  # a server that does not answer is asked once, not for each run
            failed[away.message][1].append(run)
            continue
        try:
            receipt = send_run(repository, query, record, now)
            note_reported(folder, run, receipt.place, now)
        except GitcfgError as error:
            away = error if isinstance(error, Unreachable) else None
            failed.setdefault(error.message, (error, []))[1].append(run)
        else:
            notes += note_unknown_nodes(run, receipt)
    for problem, runs in failed.values():  # the newest of them is the present run, or the nearest to it
        others = {1: "", 2: " (and one earlier run)"}
        also = others.get(len(runs), f" (and {len(runs) - 1} earlier runs)")
        hint = f"`gitcfg deploys --send {runs[-1]}` reports it later; the next deploy also does{also}."
        notes.append(" ".join(("note:", problem.message, *problem.hints, hint)))
    return notes


def note_unknown_nodes(run: str, receipt: Receipt) -> Iterator[str]:
    """Yield a note on nodes that are unknown there."""
    if receipt.unknown:
        names = safe(abridged(receipt.unknown))
        yield f"note: {receipt.place} does not know {names}, so it keeps nothing of what {run} did there."


def _send_over_http(server: str, token: str | None, record: RunRecord, now: float) -> Receipt:
    new, known, unknown = 0, 0, set[str]()
    for body in build_reports(record, now):
        answer = ask_server(server, token, "/v1/deploys", "POST", body)
        try:
            receipt = msgspec.convert(answer, _Answer)
        except msgspec.ValidationError as error:
            hint = "It may have another version than this gitcfg."
            raise GitcfgError(f"{server} sent an unexpected answer: {error}.", hint) from None
        new, known, unknown = new + receipt.new, known + receipt.known, unknown | set(receipt.unknown)
    return Receipt(server, new, known, tuple(sorted(unknown)))
