"""Deploys for eyes: a line for each, or one of them with its nodes, folded by what they have come to."""

from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from gitcfg.cli.alike import Line, folded
from gitcfg.cli.deploys_records import nodes_record, run_record
from gitcfg.cli.server_state import StateQuery
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import aligned
from gitcfg.deploy import record_files as files
from gitcfg.deploy.record_lines import WELL, Kept, NodeDone
from gitcfg.deploy.record_told import outcome, outcomes
from gitcfg.git.repository import Repository
from gitcfg.inventory.records import ago
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import ABBREVIATED, counted, safe

_HEAD = ("deploy", "when", "who", "commit", "ended", "nodes")
_LINES = 10
_STYLES = {**dict.fromkeys(WELL, "green"), **dict.fromkeys(("skipped", "refused", "waiting"), "yellow")}


def listed(session: Session, output: Output, now: float) -> int:
    """All of them, the newest first."""
    notes: list[str] = []
    runs = _runs(_folder(session.open().repository), notes)
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record({"schema": "gitcfg.deploys/1", "deploys": list(map(run_record, runs))}, output)
    elif rows := [_row(kept, now) for kept in runs]:
        for line in aligned([tuple(Text(name, "dim") for name in _HEAD), *rows]):
            session.console().print(line)
    else:
        notes.append("Nothing was deployed from here yet.")
    for note in notes:
        session.console(stderr=True).print(note)
    return 0


def _runs(folder: Path, notes: list[str]) -> Iterator[Kept]:
    """One after the other, since some are large; `notes` gets what is wrong with the files of others."""
    for found in files.files(folder):
        if found.problem:
            notes.append(f"note: {safe(found.problem)}")
        if found.kept is not None:
            yield found.kept


def one(session: Session, said: str, output: Output, now: float) -> int:
    """One of them. GitcfgError: there is none."""
    kept = files.named(_folder(session.open().repository), said)
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(nodes_record(kept), output)
        return 0
    console = session.console()
    for line in _lines(kept, now):
        console.print(line)
    return 0


def sent(session: Session, said: str, asked: StateQuery, now: float) -> int:
    """Tell one of them. GitcfgError: there is none, or nobody takes it."""
    from gitcfg.cli.deploy_reports import note_unknown_nodes, send_run
    from gitcfg.deploy.record import told

    repository = session.open().repository
    folder = _folder(repository)
    kept = files.named(folder, said)
    taken = send_run(repository, asked, kept, now)
    told(folder, kept.run.id, taken.place, now)
    again = f", {taken.known} of which it knew already" if taken.known else ""
    session.write(f"Told {taken.place} of {counted(taken.new + taken.known, 'node')}{again}.\n")
    for note in note_unknown_nodes(kept.run.id, taken):
        session.console(stderr=True).print(note)
    return 0


def _folder(repository: Repository) -> Path:
    if repository.shared is None:
        repository.git_or_error("nothing can be deployed from it")
    assert repository.shared is not None
    return files.folder_of(repository.shared)


def _row(kept: Kept, now: float) -> tuple[Text, ...]:
    run, counts = kept.run, outcomes(kept)
    said = ", ".join(f"{number} {word}" for word, number in counts.items())
    return (
        Text(run.id, "bold"),
        Text(ago(now - run.begun)),
        Text(safe(run.who)),
        Text(safe(run.commit[:ABBREVIATED])),
        Text(safe(kept.ended), "" if kept.ended == "done" else "yellow"),
        Text(safe(said) or "none", "green" if not set(counts) - set(WELL) else ""),
    )


def _lines(kept: Kept, now: float) -> Iterator[Text]:
    run = kept.run
    head = Text(run.id, "bold")
    head.append(f": commit {safe(run.commit[:ABBREVIATED])}, {ago(now - run.begun)}", "not bold default")
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
        for lines, names in folded(((name, _of(kept.done.get(name))) for name in some), trouble=True):
            line = Text(safe(word), _STYLES.get(word, "red"))
            line.append(f" {counted(len(names), 'node')}: ", "default").append(
                safe(abridged(names, IN_JSON)), "bold default"
            )
            yield line
            yield from (Text(f"  {safe(text)}", look) for text, look in lines)


def _of(done: NodeDone | None) -> tuple[Line, ...]:
    """What is to be said of a node; of one that is well, what was mended or became of an earlier run."""
    if done is None:
        return ()
    step = ((f"at {done.step}", ""),) if done.step else ()
    lines = done.output.splitlines()
    over = len(lines) - _LINES
    before = ((f"... {counted(over, 'line')} before, all of which -o json has", "dim"),) if over > 0 else ()
    return (*step, *before, *((text, "dim") for text in lines[-_LINES:]))
