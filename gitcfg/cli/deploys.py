"""`gitcfg deploys`: what was deployed over SSH from here, and what it has come to."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from gitcfg.cli.declaration import command
from gitcfg.cli.messages import Line, fold_messages
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.server_state import Database, Server, StateFolder, StateQuery, Token, state_query
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import aligned
from gitcfg.deploy import records
from gitcfg.deploy.records import WELL, NodeDone, RunRecord
from gitcfg.deploy.reports import outcome, outcomes
from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, format_age, safe
from gitcfg.nodeset import IN_JSON, abridged

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
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
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
    runs = _runs(_records_folder(session.open().repository), notes)
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
        if found.kept is not None:
            yield found.kept


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
        "counts": dict(outcomes(kept)),
        "told": {"place": told.place, "at": told.at} if told is not None else None,
        "broken": kept.broken,
    }


def _format_row(kept: RunRecord, now: float) -> tuple[Text, ...]:
    run, counts = kept.run, outcomes(kept)
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
    kept = records.find_run(_records_folder(session.open().repository), said)
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
    return {"node": name, "outcome": outcome(kept, name), **{each: said.get(each) for each in _FIELDS}}


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
    for word in outcomes(kept):
        some = (name for name in run.nodes if outcome(kept, name) == word)
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
    from gitcfg.cli.deploy_reports import note_unknown_nodes, send_run
    from gitcfg.deploy.records import note_reported

    repository = session.open().repository
    folder = _records_folder(repository)
    kept = records.find_run(folder, said)
    taken = send_run(repository, asked, kept, now)
    note_reported(folder, kept.run.id, taken.place, now)
    again = f", {taken.known} of which it knew already" if taken.known else ""
    session.write(f"Told {taken.place} of {counted(taken.new + taken.known, 'node')}{again}.\n")
    for note in note_unknown_nodes(kept.run.id, taken):
        session.console(stderr=True).print(note)
    return 0


def _records_folder(repository: Repository) -> Path:
    if repository.shared is None:
        repository.git_or_error("nothing can be deployed from it")
    assert repository.shared is not None
    return records.runs_folder(repository.shared)
