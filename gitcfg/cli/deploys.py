"""`gitcfg deploys`: what was deployed over SSH from here, and what it has come to."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from msgspec.structs import replace
from rich.text import Text

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
from gitcfg.cli.trails import aligned
from gitcfg.deploy import records
from gitcfg.deploy.records import WELL, NodeDone, RunRecord
from gitcfg.deploy.reports import build_reports, count_outcomes, find_outcome, list_deployed
from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, format_age, safe
from gitcfg.nodeset import IN_JSON, abridged

if TYPE_CHECKING:
    from gitcfg.state.records import Deployed

EPILOG = """A deploy ends as done, or as what kept it from going on. One whose program was ended is broken
off, and what became of some nodes is unknown: `gitcfg deploy --resume RUN` goes on with those not well.

Examples:

  gitcfg deploys                            the last ones, the newest first

  gitcfg deploys 1pkd3a0                    one of them; how its id begins or ends will do, or last

  gitcfg deploys --send 1pkd3a0 --server https://config.example.com"""
_RUN = typer.Argument(help="A deploy: its id, how that begins or ends, or last.", metavar="RUN")
_SEND = typer.Option(help="Tell the server, or its database, what this one did; once counts.", metavar="RUN")
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
    """List what was deployed over SSH from here, by whom and when, or show one deploy by node."""

    session: Session = context.obj
    now = time.time()
    if send is not None:
        if run is not None or output is not Output.TEXT:
            raise GitcfgError("--send tells one deploy, and writes nothing else.", "Say it alone.")
        return send_deploy(session, send, state_query(context, database, folder, server, token), now)
    if run is not None:
        return show_deploy(session, run, output, now)
    return list_deploys(session, output, now)


def list_deploys(session: Session, output: Output, now: float) -> int:
    """List all, the newest first."""
    notes: list[str] = []
    runs = _runs(records.find_runs_folder(session.open().repository), notes)
    if output is not Output.TEXT:
        write_record({"schema": "gitcfg.deploys/1", "deploys": list(map(run_to_json, runs))}, output)
    elif rows := [_format_row(kept, now) for kept in runs]:
        for line in aligned([tuple(Text(name, "dim") for name in _COLUMNS), *rows]):
            session.console().print(line)
    else:
        notes.append("Nothing was deployed from here yet.")
    for note in notes:
        session.console(stderr=True).print(note)
    return 0


def _runs(folder: Path, notes: list[str]) -> Iterator[RunRecord]:
    """Yield one after the other, since some are large; `notes` gets what is wrong with files."""
    for found in records.read_runs(folder):
        if found.problem:
            notes.append(f"note: {safe(found.problem)}")
        if found.record is not None:
            yield found.record


def run_to_json(kept: RunRecord) -> dict[str, Any]:
    """Return a deploy of `gitcfg.deploys/1`. Times are seconds since the epoch."""
    run, told = kept.run, kept.reported
    return {
        "run": run.id,
        "target": run.commit,
        "who": run.who,
        "reason": run.reason,
        "begun": run.begun,
        "lasted": max(0.0, kept.end.at - run.begun) if kept.end is not None else None,
        "ended": kept.ended,
        "because": kept.end.because if kept.end is not None else "",
        "resumes": run.resumes or None,
        "counts": dict(count_outcomes(kept)),
        "told": {"place": told.place, "at": told.at} if told is not None else None,
        "broken": kept.broken,
    }


def _format_row(kept: RunRecord, now: float) -> tuple[Text, ...]:
    run, counts = kept.run, count_outcomes(kept)
    said = ", ".join(f"{number} {word}" for word, number in counts.items())
    return (
        Text(run.id, "bold"),
        Text(format_age(now - run.begun)),
        Text(safe(run.who)),
        Text(safe(run.commit[:ABBREVIATED])),
        Text(safe(kept.ended), "" if kept.ended == "done" else "yellow"),
        Text(safe(said) or "none", "green" if not set(counts) - set(WELL) else ""),
    )


def show_deploy(session: Session, said: str, output: Output, now: float) -> int:
    """Show one. Raise GitcfgError if there is none."""
    kept = records.find_run(records.find_runs_folder(session.open().repository), said)
    if output is not Output.TEXT:
        write_record(deploy_to_json(kept), output)
        return 0
    console = session.console()
    for line in _format_deploy(kept, now):
        console.print(line)
    return 0


def deploy_to_json(kept: RunRecord) -> dict[str, Any]:
    """Return `gitcfg.deployment/1`: the nodes in the order of their turns."""
    nodes = [_node(kept, name) for name in kept.run.nodes]
    return {"schema": "gitcfg.deployment/1", **run_to_json(kept), "nodes": nodes}


def _node(kept: RunRecord, name: str) -> dict[str, Any]:
    """Return a node's record; what is not known is null."""
    done = kept.done.get(name)
    said = msgspec.to_builtins(done) if done is not None else {}
    return {"node": name, "outcome": find_outcome(kept, name), **{each: said.get(each) for each in _FIELDS}}


def _format_deploy(kept: RunRecord, now: float) -> Iterator[Text]:
    run = kept.run
    head = Text(run.id, "bold")
    head.append(
        f": commit {safe(run.commit[:ABBREVIATED])}, {format_age(now - run.begun)}", "not bold default"
    )
    head.append(f" by {safe(run.who)}, {safe(kept.ended)}", "not bold default")
    yield head
    because = kept.end.because if kept.end is not None else ""
    for label, said in (("unreviewed", run.reason), ("resumes", run.resumes), ("because", because)):
        if said:
            yield Text(f"{label}: {safe(said)}")
    if kept.broken:
        yield Text(f"{counted(kept.broken, 'line')} of its record cannot be read", "yellow")
    for word in count_outcomes(kept):
        some = (name for name in run.nodes if find_outcome(kept, name) == word)
        for lines, names in fold_messages(
            ((name, _describe_node(kept.done.get(name))) for name in some), trouble=True
        ):
            line = Text(safe(word), _STYLES.get(word, "red"))
            line.append(f" {counted(len(names), 'node')}: ", "default").append(
                safe(abridged(names, IN_JSON)), "bold default"
            )
            yield line
            yield from (Text(f"  {safe(text)}", look) for text, look in lines)


def _describe_node(done: NodeDone | None) -> tuple[Line, ...]:
    """Return the lines below a node; of one that is well, what was mended or became of an earlier run."""
    if done is None:
        return ()
    step = ((f"at {done.step}", ""),) if done.step else ()
    lines = done.output.splitlines()
    over = len(lines) - _LINES
    before = ((f"... {counted(over, 'line')} before, all of which -o json has", "dim"),) if over > 0 else ()
    return (*step, *before, *((text, "dim") for text in lines[-_LINES:]))


def send_deploy(session: Session, said: str, asked: StateQuery, now: float) -> int:
    """Send one to a server. Raise GitcfgError if there is none, or no server takes it."""
    repository = session.open().repository
    folder = records.find_runs_folder(repository)
    kept = records.find_run(folder, said)
    taken = send_run(repository, asked, kept, now)
    records.note_reported(folder, kept.run.id, taken.place, now)
    again = f", {taken.known} of which it knew already" if taken.known else ""
    session.write(f"Told {taken.place} of {counted(taken.new + taken.known, 'node')}{again}.\n")
    for note in note_unknown_nodes(kept.run.id, taken):
        session.console(stderr=True).print(note)
    return 0


class Receipt(msgspec.Struct, frozen=True):
    """What was taken in of a run: where, how many nodes newly, and which are not known there."""

    place: str
    new: int
    known: int
    unknown: tuple[str, ...] = ()


class _Answer(msgspec.Struct, frozen=True):
    new: int
    known: int
    unknown: tuple[str, ...]


def send_run(repository: "Repository", asked: StateQuery, kept: RunRecord, now: float) -> Receipt:
    """Send a run. Raise GitcfgError if it is refused, Unreachable if there is no answer."""
    if asked.server is not None:
        return _send_over_http(asked.server, asked.token, kept, now)
    url = find_database(repository, asked)
    if url is None:
        raise no_state()
    said = [_not_later(one, now) for one in list_deployed(kept)]
    new = 0
    with open_database(url) as state:
        for at in range(0, len(said), _AT_ONCE):
            new += sum(state.deploys.record(said[at : at + _AT_ONCE]))
    return Receipt("the database", new, len(said) - new)


def send_unsent_runs(
    repository: "Repository", asked: StateQuery, folder: Path, now: float
) -> tuple[str, ...]:
    """Send all runs that were not sent, oldest first, if there is a server; return notes for the user.

    Nothing is lost where that fails: the next deploy sends them, too.
    """
    if asked.server is None and find_database(repository, asked) is None:
        return ()
    return tuple(_send_each(repository, asked, folder, now))


def _send_each(repository: "Repository", asked: StateQuery, folder: Path, now: float) -> Iterator[str]:
    failed: dict[str, tuple[GitcfgError, list[str]]] = {}
    away: Unreachable | None = None
    for kept in filter(list_deployed, records.find_unreported(folder)):
        run = kept.run.id
        if away is not None:  # a server that gives no answer is asked once, not for each run
            failed[away.message][1].append(run)
            continue
        try:
            taken = send_run(repository, asked, kept, now)
            records.note_reported(folder, run, taken.place, now)
        except GitcfgError as error:
            away = error if isinstance(error, Unreachable) else None
            failed.setdefault(error.message, (error, []))[1].append(run)
        else:
            yield from note_unknown_nodes(run, taken)
    for problem, runs in failed.values():
        yield " ".join(("note:", problem.message, *problem.hints, _resend_hint(runs)))


def _resend_hint(runs: list[str]) -> str:
    """Say how to send runs later, by the newest of them: the one just made, or the nearest to it."""
    others = {1: "", 2: ", which also tells an earlier one"}
    also = others.get(len(runs), f", which also tells {len(runs) - 1} earlier ones")
    return f"`gitcfg deploys --send {runs[-1]}` tells it later, and so does the next deploy{also}."


def note_unknown_nodes(run: str, taken: Receipt) -> Iterator[str]:
    """Yield a note on nodes that are not known there."""
    if taken.unknown:
        names = safe(abridged(taken.unknown))
        yield f"note: {taken.place} does not describe {names}, and keeps nothing of what {run} did there."


def _send_over_http(server: str, token: str | None, kept: RunRecord, now: float) -> Receipt:
    new, known, unknown = 0, 0, set[str]()
    for body in build_reports(kept, now):
        answer = ask_server(server, token, "/v1/deploys", "POST", body)
        try:
            taken = msgspec.convert(answer, _Answer)
        except msgspec.ValidationError as error:
            hint = "It may be of another version than this gitcfg."
            raise GitcfgError(f"{server} answers in a way that is not known: {error}.", hint) from None
        new, known, unknown = new + taken.new, known + taken.known, unknown | set(taken.unknown)
    return Receipt(server, new, known, tuple(sorted(unknown)))


def _not_later(one: "Deployed", now: float) -> "Deployed":
    """Limit the time to now: a later one would outweigh what the node's own agent reports until then."""
    return replace(one, result=replace(one.result, at=min(one.result.at, now)))
