"""What is deployed: which commit to which nodes, why it may be, and the secrets that they get."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.cli.deploy.options import DeployOptions, Which
from gitcfg.cli.nodes import choose_nodes as named_nodes
from gitcfg.cli.server_state import StateQuery, Unreachable, find_node_states
from gitcfg.cli.session import Session
from gitcfg.deploy import approval
from gitcfg.deploy.approval import (
    Grants,
    NodeChoice,
    ReviewedBranches,
    SkipReason,
    find_fetch_time,
    find_refused,
    find_replaced,
    group_by_secret,
    group_nodes,
)
from gitcfg.deploy.records import RunRecord, find_run, find_runs_folder, find_unfinished
from gitcfg.inventory.nodes import find_holds
from gitcfg.library import Fleet, Source
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted, format_age
from gitcfg.nodeset import abridged
from gitcfg.rollout import compute_patience

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state.records import NodeState


_LONG = 86400.0
_DO = "--unreviewed --reason TEXT deploys it all the same, and records why."
_HINT = "`for` in its file on {} says which nodes may have it."
Contents = Callable[[Fleet, str], Mapping[str, str]]


class DeployCommit(msgspec.Struct, frozen=True):
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


class ReviewedNodes(msgspec.Struct, frozen=True):
    """The nodes of a deploy, and the secrets that they get although the protected branch does not say so."""

    nodes: NodeChoice
    beyond: tuple[str, ...] = ()


def choose_commit(source: Source, wanted: DeployOptions) -> DeployCommit:
    """Return the commit. Raise GitcfgError if there is none, or it was not reviewed."""
    found = ReviewedBranches(source.repository)
    resume = wanted.which.resume
    kept = _find_run(source.repository, resume) if resume is not None else None
    default = found.default
    tip, branch = (default.commit, default.name) if default is not None else (None, "")
    said = kept.run.commit if kept is not None else wanted.which.at
    if said is None and tip is None:
        raise GitcfgError("No protected branch has a commit here.", "--at REV says which commit is meant.")
    commit = str(source.repository.commit(said).id) if said is not None else str(tip)
    reason = _reason(found, commit, wanted, kept)
    names = find_unfinished(kept) if kept is not None else None
    return DeployCommit(commit, tip, branch, reason, names, kept.run.id if kept is not None else "")


def _reason(found: ReviewedBranches, commit: str, wanted: DeployOptions, kept: RunRecord | None) -> str:
    """Return why an unreviewed commit is deployed; a resumed run has its reason already."""
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


def _find_run(repository: "Repository", name: str) -> RunRecord:
    """Return the run to resume. Raise GitcfgError if there is none, or it is still at work."""
    kept = find_run(find_runs_folder(repository), name)
    if kept.going:
        message = f"The deploy {kept.run.id} is still at work."
        raise GitcfgError(message, f"`gitcfg deploys {kept.run.id}` says how far it is.", code=REFUSED)
    return kept


def note_stale(source: Source, wanted: DeployOptions, now: float) -> str:
    """Return a note if the deployed branch was not fetched for long, else ""."""
    branch = ReviewedBranches(source.repository).default
    if branch is None or wanted.which.at is not None or wanted.which.resume is not None:
        return ""
    since = find_fetch_time(source.repository, branch)
    if since is None or now - since < _LONG:
        return ""
    age = format_age(now - since)
    return f"note: {branch.name} was fetched {age}; `git fetch` brings what was reviewed since then."


def find_nodes(session: Session, fleet: Fleet, which: Which, commit: DeployCommit) -> tuple[str, ...]:
    """Return the nodes; retired ones only by name, for most of them are gone."""
    if commit.names is not None:
        return tuple(sorted(commit.names))
    names = named_nodes(fleet, which.words, which.where)
    if which.words or which.where is not None:
        return names
    retired = [name for name in names if fleet.roster.definition(name).retired]
    if retired:
        text = f"note: {counted(len(retired), 'retired node')} left out: {abridged(retired)}."
        session.console(stderr=True).print(f"{text} By name they would be cleared.")
    gone = frozenset(retired)
    return tuple(name for name in names if name not in gone)


def refuse_errors(session: Session, fleet: Fleet, names: tuple[str, ...]) -> None:
    """Raise GitcfgError if errors concern these nodes; they are printed before."""
    from gitcfg.cli.nodes import errors_of

    judged = fleet if len(names) * 10 > len(fleet) else fleet.only(names)
    errors = errors_of(judged, names)
    if errors:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), fleet.tree, errors)
        verb = "concerns" if len(errors) == 1 else "concern"
        message = f"{counted(len(errors), 'error')} {verb} these nodes, so nothing is deployed."
        raise GitcfgError(message, "`gitcfg help CODE` explains each.", code=REFUSED)


def choose_nodes(source: Source, commit: DeployCommit, names: Iterable[str], asked: StateQuery) -> NodeChoice:
    """Choose the nodes to touch, and why others are left alone; the holds reviewed last count."""
    with source.at(commit.ruling) as ruling:
        held = find_holds(ruling, source.today)

    def resolved(text: str) -> str | None:
        repository = source.repository
        return str(repository.commit(text).id) if repository.knows(text) else None

    return approval.choose_nodes(names, commit.commit, held, resolved, _nodes_with_agent(source, asked))


def _nodes_with_agent(source: Source, asked: StateQuery) -> frozenset[str]:
    """Return the nodes whose agents reported lately, if a server knows.

    A server that does not answer is no reason not to deploy: nodes themselves say whether they have an agent.
    """
    now = time.time()
    try:
        seen = find_node_states(source.repository, asked) or []
    except Unreachable as error:
        print(f"note: {error.message} Which nodes have an agent is seen there.", file=sys.stderr, flush=True)
        return frozenset()
    return frozenset(one.node for one in seen if _has_agent(one, now))


def _has_agent(one: "NodeState", now: float) -> bool:
    return bool(one.key) and not one.agentless and now - one.last <= compute_patience(one.interval)


@contextmanager
def open_reviewed(source: Source, commit: DeployCommit, fleet: Fleet) -> Iterator[Fleet | None]:
    """Open the fleet of the protected branch, this one if that is deployed, None if there is no branch."""
    if commit.tip is None or commit.tip == commit.commit:
        yield fleet if commit.tip is not None else None
        return
    with source.at(commit.tip) as found:
        yield found


def apply_review(
    session: Session,
    commit: DeployCommit,
    fleet: Fleet,
    counts: Fleet | None,
    nodes: NodeChoice,
    wanted: Grants,
) -> ReviewedNodes:
    """Leave out nodes that may no longer have a secret; of an unreviewed commit only warn, and send it.

    `counts` is the fleet of the protected branch. A hold was reviewed as well: a node held at this commit
    gets what the commit gave it, as from a server.
    """
    if counts is fleet:
        return ReviewedNodes(nodes)
    if commit.reason:
        return ReviewedNodes(nodes, _warn_of_secrets(session, commit, fleet, counts, wanted))
    free = {name: secrets for name, secrets in wanted.items() if name not in nodes.held}
    kept = {name: _spare(commit, secrets) for name, secrets in find_refused(free, counts).items()}
    left = tuple(name for name in nodes.nodes if name not in kept)
    return ReviewedNodes(replace(nodes, nodes=left, spared={**nodes.spared, **kept}))


def _spare(commit: DeployCommit, secrets: tuple[str, ...]) -> SkipReason:
    said = ", ".join(map(shown, secrets))
    what = f"The secret {said} is" if len(secrets) == 1 else f"The secrets {said} are"
    return SkipReason(f"{what} not for this node any more.", _HINT.format(commit.branch))


def _warn_of_secrets(
    session: Session, commit: DeployCommit, fleet: Fleet, counts: Fleet | None, wanted: Grants
) -> tuple[str, ...]:
    """Warn of secrets that are sent although the protected branch does not have them so; return them."""
    missing = group_by_secret(find_refused(wanted, counts))
    others = find_replaced(wanted, fleet, counts)
    where = commit.branch or "any protected branch"
    console = session.console(stderr=True)
    for name, nodes in missing.items():
        text = (
            f"warning: The secret {shown(name)} goes to {counted(len(nodes), 'node')} that may not have it on"
        )
        console.print(f"{text} {where}: {abridged(nodes)}.", style="yellow")
    for name, nodes in others.items():
        text = f"warning: The secret {shown(name)} has another encrypted file than on {where}, and goes to"
        console.print(f"{text} {counted(len(nodes), 'node')}: {abridged(nodes)}.", style="yellow")
    return tuple(sorted({*missing, *others}))


def open_contents(
    session: Session, fleet: Fleet, wanted: Grants, files: Sequence[str] | None
) -> Contents | None:
    """Return what gives nodes the true contents of files with secrets, None if no node has any.

    `wanted` are the secrets that nodes get, `files` those of private keys. Raise GitcfgError if none of them
    opens a secret, or one fits nowhere. Contents are opened before anything begins, and kept in memory.
    """
    if not wanted:
        return None
    from gitcfg.cli.secret_options import load_identities
    from gitcfg.delivery.configuration import reveal_files
    from gitcfg.secrets.store import forbid_core_dumps, open_secret

    forbid_core_dumps()
    keys = load_identities(session, files)
    known = fleet.model.secrets
    values = {
        name: open_secret(fleet.tree, known[name], keys)
        for name in sorted(set().union(*wanted.values()))
        if name in known
    }

    def found(where: Fleet, node: str) -> Mapping[str, str]:
        return reveal_files(where.valued([node]), node, values.__getitem__)

    _check_contents(fleet, wanted, found)
    return found


def _check_contents(fleet: Fleet, wanted: Grants, hidden: Contents) -> None:
    """Raise GitcfgError if a content fits nowhere on some nodes. What is made here is thrown away."""
    wrong: dict[str, tuple[GitcfgError, list[str]]] = {}
    part = fleet.valued(wanted)
    for names in group_nodes(part, wanted):
        try:
            hidden(part, names[0])
        except GitcfgError as error:
            wrong.setdefault(error.message, (error, []))[1].extend(names)
    if not wrong:
        return
    told = [f"{message} Nodes: {abridged(names)}." for message, (_, names) in wrong.items()]
    hints = dict.fromkeys(hint for error, _ in wrong.values() for hint in error.hints)
    raise GitcfgError(" ".join([*told, "Nothing is deployed."]), *hints, code=REFUSED)
