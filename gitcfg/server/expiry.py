"""Lift overrides and holds past their last day by a commit, if the server's git config says so.

A commit means the same forever, so an override applies until a commit removes it. The server makes and pushes
that commit like a person: the gate judges it by all rules of a protected branch.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import Term, carry_out, find_expired, lift_terms
from gitcfg.gate.gate import Gate
from gitcfg.gate.policy import PUSHER, load_administrator
from gitcfg.gate.push import RepositoryView, Update
from gitcfg.git.program import Git
from gitcfg.git.repository import Config
from gitcfg.library import Source
from gitcfg.model import GitcfgError, Model
from gitcfg.model.text import counted
from gitcfg.server.controller import Controller
from gitcfg.server.fleets import Tip

KEY = "gitcfg.expire"
EVENT = "expired"
_AGAIN = 3600.0
"""Seconds until another attempt, because the obstacle may be gone by then."""


class Expiry:
    """Removal of expired overrides and holds, after each new commit, each day, and each hour."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._tried: tuple[Tip, date] | None = None
        self._at = 0.0

    async def expire(self) -> None:
        """Lift overrides and holds past their last day."""
        controller = self._controller
        judged, now = controller.judged, controller.clock()
        if judged is None or judged.tip.commit is None:
            return
        current = (judged.tip, controller.today())
        if current == self._tried and now - self._at < _AGAIN:
            return
        self._tried, self._at = current, now
        data: dict[str, Any] = {"ref": judged.tip.ref}
        try:
            found = await controller.worker.run(lambda fleets: prepare(fleets.reopen(), *current))
            if found is None:
                return
            data |= {"commit": found.commit, **found.names}
            await asyncio.to_thread(found.push)
        except GitcfgError as error:
            data |= {"error": error.message}
            hint = " ".join(filter(None, error.hints))
            fields = data | ({"hint": hint} if hint else {})
            controller.log.warning("cannot remove what has expired", extra={"fields": fields})
        else:
            controller.log.info("removed what has expired", extra={"fields": data})
        await controller.with_state(lambda state: state.events.add(controller.clock(), EVENT, data))
        controller.wake()


class Prepared(msgspec.Struct, frozen=True):
    """A commit that the gate would accept; `names` are the overrides and holds that it lifts."""

    git: Git
    ref: str
    commit: str
    names: Mapping[str, Sequence[str]]
    pusher: Mapping[str, str]

    def push(self) -> None:
        """Push the commit to its own repository, so that all hooks run.

        Raise GitcfgError if it is rejected.
        """
        words = ("push", "--quiet", "--porcelain", str(self.git.folder), f"{self.commit}:{self.ref}")
        self.git.run(*words, stdin=b"", **self.pusher)


def prepare(source: Source, tip: Tip, today: date) -> Prepared | None:
    """Make the commit that lifts expired terms; None if there are none, or it is not configured.

    Raise GitcfgError if the server has no identity, or the gate would reject the commit.
    """
    repository, before = source.repository, tip.commit or ""
    config = Config(repository)
    if not config.flag(KEY):
        return None
    draft = Draft(repository.at(before), source.cache)
    model = draft.model
    names = {term: found for term in Term if (found := find_expired(model, term, today))}
    if not names:
        return None
    git, settings = Git(repository, os.environ), load_administrator(config)
    who = _identity(git)
    for term, found in names.items():
        carry_out(draft, lift_terms(term, found))
    tree = repository.without(before, draft.files)
    signing = git.signing(RepositoryView(repository, settings).policy(before).signed)
    text = _message(model, names).encode()
    commit = git.run("commit-tree", *signing, tree, "-p", before, "-F", "-", stdin=text)
    variable = config.last(PUSHER)
    pusher = {variable: who} if variable else {}
    file = config.last("gpg.ssh.revocationFile")
    revoked = Path(file).expanduser() if file else None
    charged = (who,) if pusher else None
    gate = Gate(repository, settings, source.cache, datetime.now(UTC), revoked, today, charged)
    _check_accepted(gate, Update(tip.ref, before, commit))
    return Prepared(git, tip.ref, commit, {f"{term}s": list(found) for term, found in names.items()}, pusher)


def _identity(git: Git) -> str:
    """Return the server's address as a committer. Raise GitcfgError if none is configured."""
    code, ident, _ = git.try_run("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT", stdin=b"")
    if code:
        commands = "`git config user.name NAME`, `git config user.email ADDRESS`"
        message = f"{KEY} is true, but the server has no identity to commit with."
        raise GitcfgError(message, f"Run in the served repository: {commands}.")
    return ident.partition("<")[2].partition(">")[0]


def _check_accepted(gate: Gate, update: Update) -> None:
    """Raise GitcfgError if the gate would reject the commit."""
    with gate.rulings([update]) as rulings:
        refusals = [refusal for ruling in rulings if ruling.refused for refusal in ruling.refusals]
    if refusals:
        why = " ".join(refusal.why for refusal in refusals)
        raise GitcfgError(f"The gate rejects the commit: {why}", *(one.hint for one in refusals if one.hint))


def _message(model: Model, names: Mapping[Term, Sequence[str]]) -> str:
    many = " and ".join(counted(len(found), str(term)) for term, found in names.items())
    lines = []
    for term, found in names.items():
        known = model.overrides if term is Term.OVERRIDE else model.holds
        lines += [f"{term} {name} ended on {known[name].until}: {known[name].reason}" for name in found]
    return f"Lift {many} past their last day\n\n" + "\n".join(lines) + "\n"
