"""Reports what deploys over SSH did to a server, or to its database."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.cli.server_state import (
    StateQuery,
    Unreachable,
    ask_server,
    find_database,
    no_state,
    open_database,
)
from gitcfg.deploy import records
from gitcfg.deploy.records import RunRecord, find_unreported
from gitcfg.deploy.reports import deployed, reports
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe
from gitcfg.nodeset import abridged

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state.records import Deployed


_AT_ONCE = 1000


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
    said = [_not_later(one, now) for one in deployed(kept)]
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
    for kept in filter(deployed, find_unreported(folder)):
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
    for body in reports(kept, now):
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
