"""The plan of a deploy: which commit to which nodes, why it is allowed, and the secrets that they get."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from gitcfg.cli import progress
from gitcfg.cli.deploy.options import DeployOptions, Which
from gitcfg.cli.nodes import choose_nodes as select_nodes
from gitcfg.cli.nodes import errors_of
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

_LONG = 86400.0
_DO = "Use --unreviewed --reason TEXT to deploy it anyway; the reason is recorded."
_HINT = "`for` in its file on {} selects the nodes that may have it."
Contents = Callable[[Fleet, str], Mapping[str, str]]


class DeployCommit(msgspec.Struct, frozen=True):
    """The commit, and the `tip` of the protected `branch`: the last reviewed commit, None if there is none.

    `reason` is why it is deployed without a review. `names` are the nodes of a run that is resumed, None if
    they are given otherwise; `resumes` is that run.
    """

    commit: str
    tip: str | None
    branch: str = ""
    reason: str = ""
    names: tuple[str, ...] | None = None
    resumes: str = ""

    @property
    def ruling(self) -> str:
        """The commit whose holds apply."""
        return self.tip or self.commit


class ReviewedNodes(msgspec.Struct, frozen=True):
    """The nodes of a deploy, and the secrets that they get although the protected branch does not say so."""

    nodes: NodeChoice
    beyond: tuple[str, ...] = ()


def choose_commit(source: Source, options: DeployOptions) -> DeployCommit:
    """Return the commit. Raise GitcfgError if it does not exist, was not reviewed, or its run is active."""
    found = ReviewedBranches(source.repository)
    resume = options.which.resume
    record = find_run(find_runs_folder(source.repository), resume) if resume is not None else None
    if record is not None and record.going:
        message = f"The deploy {record.run.id} is still running."
        raise GitcfgError(message, f"`gitcfg deploys {record.run.id}` shows its progress.", code=REFUSED)
    default = found.default
    tip, branch = (default.commit, default.name) if default is not None else (None, "")
    revision = record.run.commit if record is not None else options.which.at
    if revision is None and tip is None:
        raise GitcfgError("No protected branch has a commit here.", "Use --at REV to choose a commit.")
    commit = str(source.repository.commit(revision).id) if revision is not None else str(tip)
    reason = _find_reason(found, commit, options, record)
    names = find_unfinished(record) if record is not None else None
    return DeployCommit(commit, tip, branch, reason, names, record.run.id if record is not None else "")


def _find_reason(
    found: ReviewedBranches, commit: str, options: DeployOptions, record: RunRecord | None
) -> str:
    """Return why an unreviewed commit is deployed; a resumed run has its reason already."""
    if found.has(commit):
        return ""
    if options.consent.reason is not None:
        return options.consent.reason
    if record is not None and record.run.reason:
        return record.run.reason
    where = " or ".join(branch.name for branch in found.branches)
    message = f"{commit[:ABBREVIATED]} is not on {where}, so it was not reviewed."
    if not where:
        message = f"There is no protected branch here that could have {commit[:ABBREVIATED]}."
    raise GitcfgError(message, "Push it, then run `git fetch`.", _DO, code=REFUSED)


def note_stale(source: Source, options: DeployOptions, now: float) -> str:
    """Return a note if the deployed branch was not fetched for a long time, otherwise ""."""
    branch = ReviewedBranches(source.repository).default
    if branch is None or options.which.at is not None or options.which.resume is not None:
        return ""
    since = find_fetch_time(source.repository, branch)
    if since is None or now - since < _LONG:
        return ""
    age = format_age(now - since)
    return f"note: {branch.name} was fetched {age}; `git fetch` gets what was reviewed since then."


def find_nodes(session: Session, fleet: Fleet, which: Which, commit: DeployCommit) -> tuple[str, ...]:
    """Return the nodes; retired ones only by name, because most of them no longer exist."""
    if commit.names is not None:
        return tuple(sorted(commit.names))
    names = select_nodes(fleet, which.words, which.where)
    if which.words or which.where is not None:
        return names
    retired = [name for name in names if fleet.roster.definition(name).retired]
    if retired:
        text = f"note: {counted(len(retired), 'retired node')} left out: {abridged(retired)}."
        session.console(stderr=True).print(f"{text} Name them to clear them.")
    gone = frozenset(retired)
    return tuple(name for name in names if name not in gone)


def refuse_errors(session: Session, fleet: Fleet, names: tuple[str, ...]) -> None:
    """Print the errors that concern these nodes, and raise GitcfgError if there are any."""
    judged = fleet if len(names) * 10 > len(fleet) else fleet.only(names)
    errors = errors_of(judged, names)
    if errors:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), fleet.tree, errors)
        verb = "concerns" if len(errors) == 1 else "concern"
        message = f"{counted(len(errors), 'error')} {verb} these nodes, so nothing is deployed."
        raise GitcfgError(message, "`gitcfg help CODE` explains each.", code=REFUSED)


def choose_nodes(source: Source, commit: DeployCommit, names: Iterable[str], query: StateQuery) -> NodeChoice:
    """Choose the nodes to deploy to, and why others are left out; the holds that were reviewed last apply."""
    with source.at(commit.ruling) as ruling:
        held = find_holds(ruling, source.today)

    def resolve(text: str) -> str | None:
        repository = source.repository
        return str(repository.commit(text).id) if repository.knows(text) else None

    return approval.choose_nodes(names, commit.commit, held, resolve, _nodes_with_agent(source, query))


def _nodes_with_agent(source: Source, query: StateQuery) -> frozenset[str]:
    """Return the nodes whose agents reported recently, if a server knows.

    If a server does not answer, the deploy continues: nodes themselves report whether they have an agent.
    """
    now = time.time()
    try:
        states = find_node_states(source.repository, query) or []
    except Unreachable as error:
        progress.clear()
        print(
            f"note: {error.message} Each node is asked whether it has an agent.", file=sys.stderr, flush=True
        )
        return frozenset()
    agents = (state for state in states if state.key and not state.agentless)
    return frozenset(one.node for one in agents if now - one.last <= compute_patience(one.interval))


@contextmanager
def open_reviewed(source: Source, commit: DeployCommit, fleet: Fleet) -> Iterator[Fleet | None]:
    """Open the fleet of the protected branch: this one if that is deployed, None if there is no branch."""
    if commit.tip is None or commit.tip == commit.commit:
        yield fleet if commit.tip is not None else None
        return
    with source.at(commit.tip) as found:
        yield found


def apply_review(
    session: Session,
    commit: DeployCommit,
    fleet: Fleet,
    reviewed: Fleet | None,
    nodes: NodeChoice,
    grants: Grants,
) -> ReviewedNodes:
    """Leave out nodes that may no longer have a secret; for an unreviewed commit only warn, and send it.

    `reviewed` is the fleet of the protected branch. A hold was reviewed as well: a node held at this commit
    gets the secrets of the commit, as from a server.
    """
    if reviewed is fleet:
        return ReviewedNodes(nodes)
    if commit.reason:
        return ReviewedNodes(nodes, _warn_of_secrets(session, commit, fleet, reviewed, grants))
    free = {name: secrets for name, secrets in grants.items() if name not in nodes.held}
    spared = dict(nodes.spared)
    for name, secrets in find_refused(free, reviewed).items():
        names = ", ".join(map(shown, secrets))
        what = (
            f"The secret {names} is no longer" if len(secrets) == 1 else f"The secrets {names} are no longer"
        )
        spared[name] = SkipReason(f"{what} for this node.", _HINT.format(commit.branch))
    return ReviewedNodes(
        replace(nodes, nodes=tuple(name for name in nodes.nodes if name not in spared), spared=spared)
    )


def _warn_of_secrets(
    session: Session, commit: DeployCommit, fleet: Fleet, reviewed: Fleet | None, grants: Grants
) -> tuple[str, ...]:
    """Warn of secrets that are sent although the protected branch does not allow it; return them."""
    missing = group_by_secret(find_refused(grants, reviewed))
    others = find_replaced(grants, fleet, reviewed)
    where = commit.branch or "any protected branch"
    console = session.console(stderr=True)
    for name, nodes in missing.items():
        text = (
            f"warning: The secret {shown(name)} is sent to {counted(len(nodes), 'node')} that may not have it"
        )
        console.print(f"{text} on {where}: {abridged(nodes)}.", style="yellow")
    for name, nodes in others.items():
        text = f"warning: The secret {shown(name)} has another encrypted file than on {where}, and is sent to"
        console.print(f"{text} {counted(len(nodes), 'node')}: {abridged(nodes)}.", style="yellow")
    return tuple(sorted({*missing, *others}))


def open_contents(
    session: Session, fleet: Fleet, grants: Grants, files: Sequence[str] | None
) -> Contents | None:
    """Return the contents for files with secrets, None if no node has any.

    `grants` are the secrets that nodes get, `files` those of private keys. Raise GitcfgError if none of these
    decrypts a secret, or a content is not valid where it is used. Contents are decrypted before anything
    begins, and kept in memory.
    """
    if not grants:
        return None
    from gitcfg.cli.secret_options import load_identities
    from gitcfg.delivery.configuration import reveal_files
    from gitcfg.secrets.store import forbid_core_dumps, open_secret

    forbid_core_dumps()
    keys = load_identities(session, files)
    known = fleet.model.secrets
    values = {
        name: open_secret(fleet.tree, known[name], keys)
        for name in sorted(set().union(*grants.values()))
        if name in known
    }

    def reveal(fleet: Fleet, node: str) -> Mapping[str, str]:
        return reveal_files(fleet.valued([node]), node, values.__getitem__)

    _check_contents(fleet, grants, reveal)
    return reveal


def _check_contents(fleet: Fleet, grants: Grants, reveal: Contents) -> None:
    """Raise GitcfgError if a content is not valid on some nodes.

    The files rendered for that are discarded.
    """
    wrong: dict[str, tuple[GitcfgError, list[str]]] = {}
    part = fleet.valued(grants)
    for names in group_nodes(part, grants):
        try:
            reveal(part, names[0])
        except GitcfgError as error:
            wrong.setdefault(error.message, (error, []))[1].extend(names)
    if not wrong:
        return
    messages = [f"{message} Nodes: {abridged(names)}." for message, (_, names) in wrong.items()]
    hints = dict.fromkeys(hint for error, _ in wrong.values() for hint in error.hints)
    raise GitcfgError(" ".join([*messages, "Nothing is deployed."]), *hints, code=REFUSED)
