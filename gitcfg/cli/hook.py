"""`gitcfg hook`: what git calls, and what makes it do so."""

import os
import sys
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gitcfg.cli.declaration import Command, Group, command
from gitcfg.cli.hook_install import INSTALL, REMOVE, install, remove
from gitcfg.cli.post_receive import post_receive
from gitcfg.cli.session import Session
from gitcfg.git.repository import Config, Repository
from gitcfg.model import REFUSED
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from gitcfg.cache import Cache
    from gitcfg.gate.push import Update
    from gitcfg.gate.rulings import Ruling
    from gitcfg.library import Fleet, Source
    from gitcfg.model import Finding

EPILOG = """Examples:

  gitcfg hook pre-commit                        git calls it before each commit

  gitcfg hook pre-receive                       ... and this on a server, before it accepts a push

  gitcfg hook post-receive                      ... and this, once it has accepted it"""


@command(EPILOG)
def pre_commit(context: typer.Context) -> int:
    """Check what would be committed, for every node. Warnings that HEAD has, too, are only counted."""
    from msgspec.structs import replace

    from gitcfg.cli.check import check_with_parsers
    from gitcfg.cli.findings import STAGED, print_findings, print_summary
    from gitcfg.cli.session import fleet_of

    session: Session = context.obj
    source = session.open()
    with fleet_of(source, None, staged=True) as fleet:
        checked = check_with_parsers(session, fleet)
        brought = _brought(source, fleet, checked.findings)
        print_findings(session.console(), fleet.tree, brought, checked.every, STAGED)
    told = replace(checked, findings=brought, ignored=())
    earlier = set(checked.findings).difference(brought)
    console = session.console(stderr=True)
    print_summary(console, told, "Nothing new is wrong" if earlier else "Nothing is wrong")
    errors = sum(finding.is_error for finding in earlier)
    counts = ((errors, "earlier error"), (len(earlier) - errors, "earlier warning"))
    if earlier:
        said = " and ".join(counted(number, noun) for number, noun in counts if number)
        console.print(f"{said}: `gitcfg check` shows {'it' if len(earlier) == 1 else 'them'}.")
    return int(told.grave)


def _brought(source: "Source", fleet: "Fleet", found: "tuple[Finding, ...]") -> "tuple[Finding, ...]":
    """What counts of what is wrong: what HEAD has not, and errors, unless HEAD says `ratchet`."""
    from gitcfg.check.results import PLACES, Known, counting
    from gitcfg.git.tree import changed_paths
    from gitcfg.library import Fleet
    from gitcfg.load.repository import is_repository

    head = source.repository.before(fleet.tree)
    if not found or head is None or not is_repository(head):
        return found
    if "GIT_INDEX_FILE" not in os.environ and not changed_paths(head, fleet.tree, PLACES):
        return found  # nothing is about to be committed, as where pre-commit runs in CI: all is asked for
    with Fleet(head, source.repository.before(head), source.today, source.cache) as old:
        known = cache(lambda: Known(old.all_checked.findings))
        return counting(found, known, old.model.settings.ratchet)


@command(EPILOG)
def pre_receive(context: typer.Context) -> int:
    """Judge a push before it is accepted: git says on stdin which refs are to move."""
    from gitcfg.gate.push import find_bypass, find_reason, parse_updates

    session: Session = context.obj
    asked, now = parse_updates(sys.stdin), datetime.now().astimezone()
    repository = Repository.served(session.repo)
    config = Config(repository)
    opened = find_bypass(config, now)
    if opened is not None:
        end = opened.until.isoformat(" ", "minutes")
        session.write(f"gitcfg's gate is open until {end}: {safe(opened.reason)}. Nothing is checked.\n")
        return 0
    why = find_reason(os.environ)
    if why is not None:
        session.write(f"reason: {safe(why)}\n")
    return _within_budget(session, repository, config, asked, now)


def _within_budget(
    session: Session, repository: Repository, config: Config, asked: "tuple[Update, ...]", now: datetime
) -> int:
    """Judge in a process of its own. Whatever ends that early, nothing is accepted."""
    from gitcfg.cache import open_read_only
    from gitcfg.cli.gate import unjudged
    from gitcfg.gate.policy import load_budget
    from gitcfg.sandbox.budget import Client, End, Ended, TimeUp, divide, end_work

    limits = load_budget(config)
    done = divide(limits, Client())
    if isinstance(done, Ended):
        raise unjudged(done, limits)
    if done is not None:
        return done
    cache = open_read_only(repository, os.geteuid())
    try:
        return REFUSED if _refused(session, repository, config, cache, asked, now) else 0
    except TimeUp:
        cache.spill()
        end_work(End.TIME)
    except (MemoryError, SystemError):  # C code that gets no memory may say nothing else
        end_work(End.MEMORY)


def _refused(
    session: Session,
    repository: Repository,
    config: Config,
    cache: "Cache",
    asked: "tuple[Update, ...]",
    now: datetime,
) -> bool:
    """Tell all that the gate says. May some ref not move?"""
    from gitcfg.gate.gate import Gate
    from gitcfg.gate.policy import PUSHER, load_administrator
    from gitcfg.gate.push import find_pusher

    revoked = config.last("gpg.ssh.revocationFile")
    gate = Gate(
        repository,
        load_administrator(config),
        cache,
        now,
        Path(revoked).expanduser() if revoked else None,
        session.today,
        find_pusher(os.environ, config.last(PUSHER)),
    )
    told: list[Ruling] = []
    with gate.rulings(asked) as rulings:
        for ruling in rulings:
            if ruling.at_tip is not None and not any(map(ruling.shows_same_as, told)):
                from gitcfg.cli.gate import show

                show(session.console(), ruling)
            told.append(ruling.brief())
    if any(ruling.refused or ruling.errors for ruling in told):
        from gitcfg.cli.gate import tell_refusals

        tell_refusals(session.console(), told)
    return any(ruling.refused for ruling in told)


hook = Group(
    "Judge commits and pushes.",
    {
        "pre-commit": pre_commit,
        "pre-receive": pre_receive,
        "post-receive": Command(post_receive, EPILOG),
        "install": Command(install, INSTALL),
        "remove": Command(remove, REMOVE),
    },
)
