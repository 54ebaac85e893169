"""What was reviewed last has a say in every deploy: whose host keys count, and who may have a secret."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from gitcfg.cli.deploying.commit import Chosen
from gitcfg.cli.session import Session
from gitcfg.deploy import hosts
from gitcfg.deploy.handing import Kept, all_of, by_secret, exchanged, withheld
from gitcfg.library import Fleet, Source
from gitcfg.model.names import shown
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import counted

_HINT = "`for` in its file on {} says which nodes may have it."


class Judged(msgspec.Struct, frozen=True):
    """The nodes of a deploy, and the secrets that they get although the protected branch does not say so."""

    nodes: hosts.Chosen
    beyond: tuple[str, ...] = ()


@contextmanager
def tip(source: Source, commit: Chosen, fleet: Fleet) -> Iterator[Fleet | None]:
    """The fleet of the protected branch, which is this one if that is deployed; None: there is no branch."""
    if commit.tip is None or commit.tip == commit.commit:
        yield fleet if commit.tip is not None else None
        return
    with source.at(commit.tip) as found:
        yield found


def judged(
    session: Session, commit: Chosen, fleet: Fleet, counts: Fleet | None, nodes: hosts.Chosen, wanted: Kept
) -> Judged:
    """Nodes that may not have a secret any more are left alone; what nobody reviewed is told, and goes.

    `counts` is the fleet of the protected branch. A hold was reviewed as well: who is held at this commit
    gets what it gave them, as from a server.
    """
    if counts is fleet:
        return Judged(nodes)
    if commit.reason:
        return Judged(nodes, _told(session, commit, fleet, counts, wanted))
    free = {name: secrets for name, secrets in wanted.items() if name not in nodes.held}
    kept = {name: _spared(commit, secrets) for name, secrets in withheld(free, counts).items()}
    left = tuple(name for name in nodes.nodes if name not in kept)
    return Judged(replace(nodes, nodes=left, spared={**nodes.spared, **kept}))


def _spared(commit: Chosen, secrets: tuple[str, ...]) -> hosts.Spared:
    said = ", ".join(map(shown, secrets))
    what = f"The secret {said} is" if len(secrets) == 1 else f"The secrets {said} are"
    return hosts.Spared(f"{what} not for this node any more.", _HINT.format(commit.branch))


def _told(
    session: Session, commit: Chosen, fleet: Fleet, counts: Fleet | None, wanted: Kept
) -> tuple[str, ...]:
    """Tells of secrets that go although the protected branch does not have them so: which these are."""
    missing = by_secret(withheld(wanted, counts))
    others = exchanged(wanted, fleet, counts)
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
    return tuple(sorted(all_of([tuple(missing), tuple(others)])))
