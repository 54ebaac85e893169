"""Tells what deploys over SSH have done to nodes: a server, or its database."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.cli.database import address, nowhere, opened
from gitcfg.cli.serving.remote import Unreachable, ask
from gitcfg.cli.serving.said import Asked
from gitcfg.deploy import record
from gitcfg.deploy.record_files import untold
from gitcfg.deploy.record_lines import Kept
from gitcfg.deploy.record_told import deployed, reports
from gitcfg.model import GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state import Deployed

_AT_ONCE = 1000


class Taken(msgspec.Struct, frozen=True):
    """What was taken in of a run: where, how many nodes anew, and which are nobody's there."""

    place: str
    new: int
    known: int
    unknown: tuple[str, ...] = ()


class _Answer(msgspec.Struct, frozen=True):
    new: int
    known: int
    unknown: tuple[str, ...]


def tell(repository: "Repository", asked: Asked, kept: Kept, now: float) -> Taken:
    """Tell a run, whether or not it was told. GitcfgError: it is not taken. Unreachable: nobody answers."""
    if asked.server is not None:
        return _over_http(asked.server, asked.token, kept, now)
    url = address(repository, asked)
    if url is None:
        raise nowhere()
    said = [_by_now(one, now) for one in deployed(kept)]
    new = 0
    with opened(url) as state:
        for at in range(0, len(said), _AT_ONCE):
            new += sum(state.deploys.record(said[at : at + _AT_ONCE]))
    return Taken("the database", new, len(said) - new)


def told_all(repository: "Repository", asked: Asked, folder: Path, now: float) -> tuple[str, ...]:
    """Tell all runs that were not told, oldest first, where anybody keeps such things; what there is to say.

    Nothing is lost where that fails: the next deploy tells them, too.
    """
    if asked.server is None and address(repository, asked) is None:
        return ()
    return tuple(_told_each(repository, asked, folder, now))


def _told_each(repository: "Repository", asked: Asked, folder: Path, now: float) -> Iterator[str]:
    failed: dict[str, tuple[GitcfgError, list[str]]] = {}
    away: Unreachable | None = None
    for kept in filter(deployed, untold(folder)):
        run = kept.run.id
        if away is not None:  # who gives no answer is asked once, not for each run
            failed[away.message][1].append(run)
            continue
        try:
            taken = tell(repository, asked, kept, now)
            record.told(folder, run, taken.place, now)
        except GitcfgError as error:
            away = error if isinstance(error, Unreachable) else None
            failed.setdefault(error.message, (error, []))[1].append(run)
        else:
            yield from strange(run, taken)
    for problem, runs in failed.values():
        yield " ".join(("note:", problem.message, *problem.hints, _later(runs)))


def _later(runs: list[str]) -> str:
    """The newest of them is the one that was just made, or as near to it as there is one."""
    others = {1: "", 2: ", which also tells an earlier one"}
    also = others.get(len(runs), f", which also tells {len(runs) - 1} earlier ones")
    return f"`gitcfg deploys --send {runs[-1]}` tells it later, and so does the next deploy{also}."


def strange(run: str, taken: Taken) -> Iterator[str]:
    """What is to be said of nodes of which nothing was taken in."""
    if taken.unknown:
        names = safe(abridged(taken.unknown))
        yield f"note: {taken.place} does not describe {names}, and keeps nothing of what {run} did there."


def _over_http(server: str, token: str | None, kept: Kept, now: float) -> Taken:
    new, known, unknown = 0, 0, set[str]()
    for body in reports(kept, now):
        answer = ask(server, token, "/v1/deploys", "POST", body)
        try:
            taken = msgspec.convert(answer, _Answer)
        except msgspec.ValidationError as error:
            hint = "It may be of another version than this gitcfg."
            raise GitcfgError(f"{server} answers in a way that is not known: {error}.", hint) from None
        new, known, unknown = new + taken.new, known + taken.known, unknown | set(taken.unknown)
    return Taken(server, new, known, tuple(sorted(unknown)))


def _by_now(one: "Deployed", now: float) -> "Deployed":
    """Nothing was done later than now: else what a node's own agent says would not count until then."""
    return replace(one, result=replace(one.result, at=min(one.result.at, now)))
