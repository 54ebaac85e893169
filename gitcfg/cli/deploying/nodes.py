"""The nodes of a deploy: those that are meant, without what a hold or an agent keeps from it."""

import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitcfg.cli.deploying.commit import Chosen
from gitcfg.cli.deploying.say import Which
from gitcfg.cli.nodes import chosen as named
from gitcfg.cli.server_state import StateQuery, Unreachable, find_node_states
from gitcfg.cli.session import Session
from gitcfg.deploy import hosts
from gitcfg.inventory.described import holds
from gitcfg.library import Fleet, Source
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import counted
from gitcfg.rollout import patience

if TYPE_CHECKING:
    from gitcfg.state import NodeState


def meant(session: Session, fleet: Fleet, which: Which, commit: Chosen) -> tuple[str, ...]:
    """The nodes that are asked for; retired ones only by name, for most of them are gone."""
    if commit.names is not None:
        return tuple(sorted(commit.names))
    names = named(fleet, which.words, which.where)
    if which.words or which.where is not None:
        return names
    retired = [name for name in names if fleet.roster.said(name).retired]
    if retired:
        text = f"note: {counted(len(retired), 'retired node')} left out: {abridged(retired)}."
        session.console(stderr=True).print(f"{text} By name they would be cleared.")
    gone = frozenset(retired)
    return tuple(name for name in names if name not in gone)


def refuse_errors(session: Session, fleet: Fleet, names: tuple[str, ...]) -> None:
    """GitcfgError: there are errors that concern these nodes; they are told before."""
    from gitcfg.cli.refusals import concerning

    judged = fleet if len(names) * 10 > len(fleet) else fleet.only(names)
    errors = concerning(judged, names)
    if errors:
        from gitcfg.cli.findings import show

        show(session.console(stderr=True), fleet.tree, errors)
        verb = "concerns" if len(errors) == 1 else "concern"
        message = f"{counted(len(errors), 'error')} {verb} these nodes, so nothing is deployed."
        raise GitcfgError(message, "`gitcfg help CODE` explains each.", code=REFUSED)


def touched(source: Source, commit: Chosen, names: Iterable[str], asked: StateQuery) -> hosts.Chosen:
    """Those to touch, and why the others are left alone: the holds count that were reviewed last."""
    with source.at(commit.ruling) as ruling:
        held = holds(ruling, source.today)

    def resolved(text: str) -> str | None:
        repository = source.repository
        return str(repository.commit(text).id) if repository.knows(text) else None

    return hosts.chosen(names, commit.commit, held, resolved, _agents(source, asked))


def _agents(source: Source, asked: StateQuery) -> frozenset[str]:
    """The nodes whose agents have been heard of lately, where somebody knows.

    A server that is away is no reason not to deploy, but one to: nodes themselves say which have an agent.
    """
    now = time.time()
    try:
        seen = find_node_states(source.repository, asked) or []
    except Unreachable as error:
        print(f"note: {error.message} Which nodes have an agent is seen there.", file=sys.stderr, flush=True)
        return frozenset()
    return frozenset(one.node for one in seen if _has_agent(one, now))


def _has_agent(one: "NodeState", now: float) -> bool:
    return bool(one.key) and not one.agentless and now - one.last <= patience(one.interval)
