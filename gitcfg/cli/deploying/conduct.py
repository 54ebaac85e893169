"""A deploy from its options to its exit code: everything is known and agreed to before anything is begun."""

import getpass
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

from gitcfg.cli.deploying.carried import Deploying, carry_out
from gitcfg.cli.deploying.commit import Chosen, chosen, stale
from gitcfg.cli.deploying.nodes import meant, refuse_errors, touched
from gitcfg.cli.deploying.reviewed import Judged, judged, tip
from gitcfg.cli.deploying.secrets import hidden
from gitcfg.cli.deploying.wanted import Wanted
from gitcfg.cli.server_state import StateQuery
from gitcfg.cli.session import Output, Session
from gitcfg.deploy.batches import allowed, batches
from gitcfg.deploy.handing import needed
from gitcfg.deploy.orders import Orders, Sending
from gitcfg.deploy.reach import Network, Reaching
from gitcfg.deploy.sudo import Password
from gitcfg.deploy.turns import Plan
from gitcfg.deploy.visit import Entering
from gitcfg.git.history import History
from gitcfg.library import Fleet, Source
from gitcfg.model import GitcfgError, Share
from gitcfg.model.names import shown
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import ABBREVIATED, counted, install_hint, safe
from gitcfg.rollout import planned

_MISSING = GitcfgError("What deploys over SSH is not installed.", install_hint("ssh"))


def conduct(
    session: Session, wanted: Wanted, identity: Sequence[str] | None, asked: StateQuery, output: Output
) -> int:
    """All of it. GitcfgError: it is refused before anything is begun."""
    source = session.open()
    commit = chosen(source, wanted)
    if note := stale(source, wanted, time.time()):
        session.console(stderr=True).print(note)
    with source.at(commit.commit) as fleet, tip(source, commit, fleet) as reviewed:
        names = meant(session, fleet, wanted.which, commit)
        network = _network(wanted, fleet, reviewed, names)
        refuse_errors(session, fleet, names)
        found = touched(source, commit, names, asked)
        getting = needed(fleet, found.nodes)
        judgement = judged(session, commit, fleet, reviewed, found, getting)
        nodes = judgement.nodes
        secrets = hidden(
            session, fleet, {one: getting[one] for one in nodes.nodes if one in getting}, identity
        )
        _agree(source, commit, wanted, judgement)
        who = f"{getpass.getuser()}@{socket.gethostname()}"
        sending = Sending(who, wanted.consent.dry, nodes.held, secrets)
        orders = Orders(source, fleet, nodes.nodes, sending)
        plan = _plan(fleet, commit.commit, wanted, nodes.nodes)
        deploying = Deploying(plan, network, _entering(wanted), orders.of, commit, nodes.spared, who, asked)
        try:
            return carry_out(session, source, deploying, wanted.consent.dry, output)
        finally:
            orders.close()
            network.close()


def _network(wanted: Wanted, fleet: Fleet, reviewed: Fleet | None, names: Iterable[str]) -> Network:
    """Who nodes are and where is said by what was reviewed last, whichever commit goes there.

    A key that was taken away since would be trusted again else, and a commit of one's own name any host.
    GitcfgError: fabric is not installed, or ssh_config cannot be read.
    """
    try:
        from gitcfg.deploy.ssh import Ssh
    except ImportError:
        raise _MISSING from None
    ways = wanted.ways
    return Ssh(
        Reaching(
            time.monotonic,
            ways.ssh_config,
            ways.user,
            ways.connect_timeout,
            ways.accept_new,
            {name: key.text for name, key in reviewed.model.keys.items()} if reviewed is not None else {},
            dict(_addresses(fleet, reviewed, names)),
        )
    )


def _addresses(fleet: Fleet, reviewed: Fleet | None, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """As what was reviewed last says them; of a node that it does not know, as the commit does."""
    for name in names:
        counts = reviewed if reviewed is not None and name in reviewed else fleet
        if address := counts.roster.said(name).address:
            yield name, address


def _entering(wanted: Wanted) -> Entering:
    ways = wanted.ways
    password = Password(_password()) if ways.ask_sudo else None
    return Entering(time.monotonic, ways.timeout, ways.sudo, password, ways.root, ways.state)


def _password() -> str:
    """Asked for on the terminal, and not shown; without one it is a line of stdin."""
    from gitcfg.secrets.dumps import no_core_dumps

    no_core_dumps()
    if sys.stdin.isatty():
        return getpass.getpass("Password for sudo on the nodes: ")
    found = sys.stdin.readline()
    if not found.strip():
        hint = "Without a terminal it is read from stdin."
        raise GitcfgError("--ask-sudo: there is no password.", hint)
    return found.removesuffix("\n")


def _plan(fleet: Fleet, commit: str, wanted: Wanted, names: Sequence[str]) -> Plan:
    """The order is a release's: whom gitcfg.yaml wants first, then others first with each commit."""
    limits, release = wanted.limits, fleet.model.settings.release
    first = release.first if release is not None else None
    order = planned(commit, names, None, fleet.compiled.select(first.name).names if first else ()).order

    def most(limit: Share | None) -> int | None:
        return None if limit is None else allowed(limit, len(order))

    sizes = batches(limits.batches, len(order))
    return Plan(order, sizes, limits.jobs, most(limits.failures), most(limits.unreached))


def _agree(source: Source, commit: Chosen, wanted: Wanted, judgement: Judged) -> None:
    """GitcfgError: who is asked says no, or there is nobody to be asked."""
    names = judgement.nodes.nodes
    if wanted.consent.yes or wanted.consent.dry or not names:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "`gitcfg deploy` asks before it begins, and there is no terminal to ask on."
        raise GitcfgError(message, "--yes answers beforehand; --dry-run only shows what would be.")
    subject = safe(History(source.repository).about(commit.commit).subject)
    what = f"{commit.commit[:ABBREVIATED]} ({subject})"
    beyond = ", ".join(map(shown, judgement.beyond))
    besides = f" With secrets that nobody reviewed so: {beyond}." if beyond else ""
    question = f"Deploy {what} to {counted(len(names), 'node')}: {abridged(names)}?{besides} [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise GitcfgError("Nothing is deployed.", code=1)
