"""`gitcfg hook post-receive`: what follows a push that was accepted, and what goes wrong with it."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING

import typer

from gitcfg.cli.session import Session
from gitcfg.git.repository import Config, Repository
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.gate.push import Update


def post_receive(context: typer.Context) -> int:
    """Follow up on a push that was accepted: notes, the cache, the rendered ref. It never fails a push."""
    from gitcfg.gate.push import parse_updates

    session: Session = context.obj
    asked: tuple[Update, ...] = parse_updates(sys.stdin)
    repository = Repository.served(session.repo)
    _tried("What was said of the push is not noted", lambda: _note(repository, asked))
    _tried("The rendered ref is not up to date", lambda: _follow(session, repository))
    _apart(lambda: _warm(session, repository, asked))
    return 0


def _apart(work: Callable[[], None]) -> None:
    """Do what nobody waits for: whoever pushes does as long as a hook's outputs are open."""
    sys.stdout.flush()
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        work()
    finally:
        os._exit(0)


def _tried(what: str, work: Callable[[], None]) -> None:
    """Do one thing of several: the push is accepted, whatever comes of it."""
    try:
        work()
    except GitcfgError as error:
        print(f"warning: {what}: {safe(error.message)}", file=sys.stderr)
        for hint in filter(None, error.hints):
            print(f"hint: {safe(hint)}", file=sys.stderr)
    except OSError as error:
        where = error.filename or "the system"
        print(f"warning: {what}: {safe(str(where))}: {error.strerror or error}.", file=sys.stderr)


def _note(repository: Repository, asked: "tuple[Update, ...]") -> None:
    from gitcfg.gate.policy import PUSHER, load_administrator
    from gitcfg.gate.push import AcceptedPush, find_bypass, find_reason, pusher_name, render_note
    from gitcfg.git.program import Git

    config = Config(repository)
    opened = find_bypass(config, datetime.now().astimezone())
    text = render_note(find_reason(os.environ), opened, pusher_name(os.environ, config.last(PUSHER)))
    if text:
        git = Git(repository, os.environ)
        AcceptedPush(repository, load_administrator(config), asked).add_notes(git, text)


def _warm(session: Session, repository: Repository, asked: "tuple[Update, ...]") -> None:
    from gitcfg.cache import open_cache
    from gitcfg.gate.policy import load_administrator, load_budget
    from gitcfg.gate.push import AcceptedPush
    from gitcfg.sandbox.budget import TimeUp, divide

    config = Config(repository)
    if divide(load_budget(config)) is not None:
        return
    accepted = AcceptedPush(repository, load_administrator(config), asked)
    with suppress(TimeUp):
        accepted.fill_cache(open_cache(repository, os.geteuid()), session.today or date.today())


def _follow(session: Session, repository: Repository) -> None:
    """Bring the rendered ref up to date, where one is configured."""
    config = Config(repository)
    ref = config.last("gitcfg.renderRef")
    if not ref:
        return
    from gitcfg.cli.publication import print_followed, publisher
    from gitcfg.git.refs import Refs
    from gitcfg.output.branch import follow_ref

    said = config.last("gitcfg.renderFrom")
    source = (said if said.startswith("refs/") else f"refs/heads/{said}") if said else Refs(repository).head
    if Refs(repository).tip(source) is None and said:
        raise GitcfgError(f"gitcfg.renderFrom is {said!r}, and there is no such ref.", "Name a branch.")
    writer = publisher(session, repository, ref)
    print_followed(session, writer.ref, follow_ref(writer, source))
