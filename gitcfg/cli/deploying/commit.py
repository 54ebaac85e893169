"""Which commit is deployed to which nodes, and why it may be: reviewed, or with a reason."""

from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.deploying.say import Which
from gitcfg.cli.deploying.wanted import Wanted
from gitcfg.deploy.record import Kept, folder_of, unfinished
from gitcfg.deploy.record_files import named
from gitcfg.deploy.reviewed import Reviewed, fetched
from gitcfg.inventory.records import ago
from gitcfg.library import Source
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED

if TYPE_CHECKING:
    from pathlib import Path

_LONG = 86400.0
_DO = "--unreviewed --reason TEXT deploys it all the same, and records why."


class Chosen(msgspec.Struct, frozen=True):
    """The commit, and the `tip` of the protected `branch`: what was reviewed last, None if there is none.

    `reason` is why it is deployed although nobody has reviewed it. `names` are the nodes of a run that is
    gone on with, None where they are said otherwise; `resumes` is that run.
    """

    commit: str
    tip: str | None
    branch: str = ""
    reason: str = ""
    names: tuple[str, ...] | None = None
    resumes: str = ""

    @property
    def ruling(self) -> str:
        """The commit whose holds count."""
        return self.tip or self.commit


def chosen(source: Source, wanted: Wanted) -> Chosen:
    """The commit. GitcfgError: there is no such commit, or nobody has reviewed it."""
    found = Reviewed(source.repository)
    kept = _resumed(records(source), wanted.which) if wanted.which.resume is not None else None
    usual = found.usual
    tip, branch = (usual.commit, usual.name) if usual is not None else (None, "")
    said = kept.run.commit if kept is not None else wanted.which.at
    if said is None and tip is None:
        raise GitcfgError("No protected branch has a commit here.", "--at REV says which commit is meant.")
    commit = str(source.repository.commit(said).id) if said is not None else str(tip)
    reason = _reason(found, commit, wanted, kept)
    names = unfinished(kept) if kept is not None else None
    return Chosen(commit, tip, branch, reason, names, kept.run.id if kept is not None else "")


def stale(source: Source, wanted: Wanted, now: float) -> str:
    """What is to be said where the branch that is deployed was not fetched for long; else nothing."""
    usual = Reviewed(source.repository).usual
    if usual is None or wanted.which.at is not None or wanted.which.resume is not None:
        return ""
    since = fetched(source.repository, usual)
    if since is None or now - since < _LONG:
        return ""
    return (
        f"note: {usual.name} was fetched {ago(now - since)}; `git fetch` brings what was reviewed since then."
    )


def records(source: Source) -> "Path":
    """Where runs are recorded. GitcfgError: there is no git repository."""
    shared = source.repository.shared
    if shared is None:
        source.repository.git_or_error("nothing can be deployed from it")
    assert shared is not None
    return folder_of(shared)


def _reason(found: Reviewed, commit: str, wanted: Wanted, kept: Kept | None) -> str:
    """Why an unreviewed commit is deployed; a run that is gone on with has its reason already."""
    if found.has(commit):
        return ""
    if wanted.consent.reason is not None:
        return wanted.consent.reason
    if kept is not None and kept.run.reason:
        return kept.run.reason
    where = " or ".join(branch.name for branch in found.branches)
    message = f"{commit[:ABBREVIATED]} is not on {where}, so nobody has reviewed it."
    if not where:
        message = f"No protected branch is here that could have {commit[:ABBREVIATED]}."
    raise GitcfgError(message, "Push it, and fetch.", _DO, code=REFUSED)


def _resumed(folder: "Path", which: Which) -> Kept:
    """The run to go on with. GitcfgError: there is none, or somebody is at it."""
    kept = named(folder, which.resume or "")
    if kept.going:
        message = f"The deploy {kept.run.id} is still at work."
        raise GitcfgError(message, f"`gitcfg deploys {kept.run.id}` says how far it is.", code=REFUSED)
    return kept
