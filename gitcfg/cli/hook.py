"""`gitcfg hook`: what git runs before commits, before pushes and after them, and its installation."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gitcfg.cli.declaration import Group, OutputOption, command
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.git.repository import Config, Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.cache import Cache
    from gitcfg.edit.hooks import HookChanges, Step
    from gitcfg.gate.policy import Administrator, Policy
    from gitcfg.gate.push import RepositoryView, Update
    from gitcfg.gate.rulings import Ruling
    from gitcfg.git.hooks import HookFolder
    from gitcfg.library import Fleet, Source
    from gitcfg.model import Finding

EPILOG = """Examples:

  gitcfg hook pre-commit                        git calls it before each commit

  gitcfg hook pre-receive                       ... and this on a server, before it accepts a push

  gitcfg hook post-receive                      ... and this, once it has accepted it"""


@command(EPILOG)
def pre_commit(context: typer.Context) -> int:
    """Check what would be committed, for every node. Warnings that HEAD already has are only counted."""
    from msgspec.structs import replace

    from gitcfg.cli.check import check_with_parsers
    from gitcfg.cli.findings import STAGED, print_findings, print_summary
    from gitcfg.cli.session import fleet_of

    session: Session = context.obj
    source = session.open()
    with fleet_of(source, None, staged=True) as fleet:
        checked = check_with_parsers(session, fleet)
        brought = _find_new(source, fleet, checked.findings)
        print_findings(session.console(), fleet.tree, brought, checked.every, STAGED)
    added = replace(checked, findings=brought, ignored=())
    earlier = set(checked.findings).difference(brought)
    console = session.console(stderr=True)
    print_summary(console, added, "Nothing new is wrong" if earlier else "Nothing is wrong")
    errors = sum(finding.is_error for finding in earlier)
    counts = ((errors, "earlier error"), (len(earlier) - errors, "earlier warning"))
    if earlier:
        text = " and ".join(counted(number, noun) for number, noun in counts if number)
        console.print(f"{text}: `gitcfg check` shows {'it' if len(earlier) == 1 else 'them'}.")
    return int(added.grave)


def _find_new(source: "Source", fleet: "Fleet", found: "tuple[Finding, ...]") -> "tuple[Finding, ...]":
    """Return the findings that count: those that HEAD lacks, and errors, unless HEAD has `ratchet`."""
    from gitcfg.check.results import PLACES, Known, counting
    from gitcfg.git.tree import changed_paths
    from gitcfg.library import Fleet
    from gitcfg.load.repository import is_repository

    head = source.repository.before(fleet.tree)
    if not found or head is None or not is_repository(head):
        return found
    if "GIT_INDEX_FILE" not in os.environ and not changed_paths(head, fleet.tree, PLACES):
        return found  # nothing will be committed, for example in pre-commit in CI: report everything
    with Fleet(head, source.repository.before(head), source.today, source.cache) as old:
        known = cache(lambda: Known(old.all_checked.findings))
        return counting(found, known, old.model.settings.ratchet)


@command(EPILOG)
def pre_receive(context: typer.Context) -> int:
    """Check a push before it is accepted. git writes on stdin which refs it updates."""
    from gitcfg.gate.push import find_bypass, find_reason, parse_updates

    session: Session = context.obj
    updates, now = parse_updates(sys.stdin), datetime.now().astimezone()
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
    return _within_budget(session, repository, config, updates, now)


def _within_budget(
    session: Session, repository: Repository, config: Config, updates: "tuple[Update, ...]", now: datetime
) -> int:
    """Judge in a separate process. If it ends early for any reason, reject the push."""
    from gitcfg.cache import open_read_only
    from gitcfg.cli.gate import unjudged
    from gitcfg.cli.progress import lines_of_hook
    from gitcfg.gate.policy import load_budget
    from gitcfg.sandbox.budget import Client, End, Ended, TimeUp, divide, end_work

    limits = load_budget(config)
    done = divide(limits, Client(), lines_of_hook(session.progress))
    if isinstance(done, Ended):
        raise unjudged(done, limits)
    if done is not None:
        return done
    cache = open_read_only(repository, os.geteuid())
    try:
        return REFUSED if _judge(session, repository, config, cache, updates, now) else 0
    except TimeUp:
        cache.spill()
        end_work(End.TIME)
    except (MemoryError, SystemError):  # C code without memory may raise either
        end_work(End.MEMORY)


def _judge(
    session: Session,
    repository: Repository,
    config: Config,
    cache: "Cache",
    updates: "tuple[Update, ...]",
    now: datetime,
) -> bool:
    """Print the gate's output; return whether a ref is rejected."""
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
    made: list[Ruling] = []
    with gate.rulings(updates) as rulings:
        for ruling in rulings:
            if ruling.at_tip is not None and not any(map(ruling.shows_same_as, made)):
                from gitcfg.cli.gate import print_ruling

                print_ruling(session.console(), ruling)
            made.append(ruling.brief())
    if any(ruling.refused or ruling.errors for ruling in made):
        from gitcfg.cli.gate import print_refusals

        print_refusals(session.console(), made)
    return any(ruling.refused for ruling in made)


@command(EPILOG)
def post_receive(context: typer.Context) -> int:
    """Update notes, the cache and the rendered ref after an accepted push. It never fails a push."""
    from gitcfg.gate.push import parse_updates

    session: Session = context.obj
    updates: tuple[Update, ...] = parse_updates(sys.stdin)
    repository = Repository.served(session.repo)
    _attempt("Cannot write the note on the push", lambda: _note(repository, updates))
    _attempt("Cannot update the rendered ref", lambda: _follow(session, repository))
    _detach(lambda: _warm(session, repository, updates))
    return 0


def _detach(work: Callable[[], None]) -> None:
    """Run work in the background: the pusher waits as long as a hook's outputs are open."""
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


def _attempt(what: str, work: Callable[[], None]) -> None:
    """Do one of several tasks; if it fails, warn only, because the push is already accepted."""
    try:
        work()
    except GitcfgError as error:
        print(f"warning: {what}: {safe(error.message)}", file=sys.stderr)
        for hint in filter(None, error.hints):
            print(f"hint: {safe(hint)}", file=sys.stderr)
    except OSError as error:
        where = error.filename or "the system"
        print(f"warning: {what}: {safe(str(where))}: {error.strerror or error}.", file=sys.stderr)


def _note(repository: Repository, updates: "tuple[Update, ...]") -> None:
    from gitcfg.gate.policy import PUSHER, load_administrator
    from gitcfg.gate.push import AcceptedPush, find_bypass, find_reason, pusher_name, render_note
    from gitcfg.git.program import Git

    config = Config(repository)
    opened = find_bypass(config, datetime.now().astimezone())
    text = render_note(find_reason(os.environ), opened, pusher_name(os.environ, config.last(PUSHER)))
    if text:
        git = Git(repository, os.environ)
        AcceptedPush(repository, load_administrator(config), updates).add_notes(git, text)


def _warm(session: Session, repository: Repository, updates: "tuple[Update, ...]") -> None:
    from gitcfg.cache import open_cache
    from gitcfg.gate.policy import load_administrator, load_budget
    from gitcfg.gate.push import AcceptedPush
    from gitcfg.sandbox.budget import TimeUp, divide

    config = Config(repository)
    if divide(load_budget(config)) is not None:
        return
    accepted = AcceptedPush(repository, load_administrator(config), updates)
    with suppress(TimeUp):
        accepted.fill_cache(open_cache(repository, os.geteuid()), session.today or date.today())


def _follow(session: Session, repository: Repository) -> None:
    """Update the rendered ref, if one is configured."""
    config = Config(repository)
    ref = config.last("gitcfg.renderRef")
    if not ref:
        return
    from gitcfg.cli.publication import print_followed, publisher
    from gitcfg.git.refs import Refs
    from gitcfg.output.branch import follow_ref

    branch, refs = config.last("gitcfg.renderFrom"), Refs(repository)
    source = (branch if branch.startswith("refs/") else f"refs/heads/{branch}") if branch else refs.head
    if refs.tip(source) is None and branch:
        raise GitcfgError(f"gitcfg.renderFrom is {branch!r}, which does not exist.", "Name a branch.")
    writer = publisher(session, repository, ref)
    print_followed(session, writer.ref, follow_ref(writer, source))


_INSTALL_EPILOG = """\
Existing hooks are kept as NAME.before-gitcfg, and run first.

Examples:

  gitcfg hook install                       check each commit of this repository

  gitcfg hook install --server pool.git     check each push to that repository

  gitcfg -C sites/north hook install        gitcfg.yaml may be in any folder of a work tree"""
_REMOVE_EPILOG = """Examples:

  gitcfg hook remove                        commits are no longer checked

  gitcfg hook remove --server pool.git      pushes are no longer checked

  gitcfg -C sites/north hook remove"""

_SERVER = typer.Option(help="The server's repository, instead of the work tree's.", metavar="DIR")


def _find_program() -> tuple[str, ...]:
    """Return the words that run this gitcfg from anywhere: git may run a hook with another PATH."""
    called = Path(os.path.abspath(sys.argv[0]))
    for place in (called, Path(sys.executable).with_name("gitcfg")):
        if place.name == "gitcfg" and place.is_file() and os.access(place, os.X_OK):
            return (str(place),)
    return (sys.executable, "-m", "gitcfg")


HOOKS = Items("gitcfg.hooks/1", "steps", "hook-step")


@command(_INSTALL_EPILOG, HOOKS)
def install(
    context: typer.Context,
    server: Annotated[Path | None, _SERVER] = None,
    output: OutputOption = Output.TEXT,
) -> None:
    """Install a git hook that checks each commit, or with --server each push. Idempotent."""
    from gitcfg.edit import hooks

    session: Session = context.obj
    if server is None:
        write_changes(session, hooks.install(Repository.open(session.repo), _find_program()), output)
        return
    from gitcfg.gate.policy import load_administrator
    from gitcfg.git.hooks import open_exactly

    repository = open_exactly(server)
    settings = load_administrator(Config(repository))  # first, because it may be wrong
    done = hooks.install_server(repository, _find_program())
    write_changes(session, done, output, find_protection(server, settings))


def install_in_new_repository(console: "Console", folder: Path) -> bool:
    """Have git check each commit of a new repository; print obstacles, return whether it does."""
    from gitcfg.edit.hooks import Action, install_in_new

    try:
        done = install_in_new(Repository.open(folder), _find_program())
    except GitcfgError as error:
        console.print(f"warning: {safe(error.message)}", style="yellow")
        for hint in error.hints:
            console.print(f"hint: {safe(hint)}", style="cyan")
        return False
    for step in done.steps:
        if step.action is Action.KEEP:
            console.print(safe(_describe_step(step)))
    return True


@command(_REMOVE_EPILOG, HOOKS)
def remove(
    context: typer.Context,
    server: Annotated[Path | None, _SERVER] = None,
    output: OutputOption = Output.TEXT,
) -> None:
    """Remove gitcfg's hooks, and restore those that were there before."""
    from gitcfg.edit import hooks
    from gitcfg.git.hooks import open_exactly

    session: Session = context.obj
    if server is None:
        done = hooks.remove(Repository.served(session.repo))
    else:
        done = hooks.remove_server(open_exactly(server))
    write_changes(session, done, output)


class Protection(NamedTuple):
    """The protected refs of a server's gate, and how they are protected; git's settings; and gaps."""

    refs: tuple[str, ...]
    each: bool
    ratchet: bool
    signed: bool
    settings: tuple[tuple[str, str], ...]
    gaps: tuple[str, ...]


def write_changes(
    session: Session, done: "HookChanges", output: Output, protection: Protection | None = None
) -> None:
    """Write the changes of hooks, and a server's protection; warnings go to stderr."""
    from gitcfg.edit.hooks import Action

    steps = [step for step in done.steps if step.action is not Action.UNMAKE or not step.place.exists()]
    if output is not Output.TEXT:
        record: Record = {"schema": HOOKS.schema, "folder": str(done.folder.place)}
        record["protection"] = _protection_to_json(protection) if protection is not None else None
        write_record({**record, "steps": list(map(_step_to_json, steps))}, output)
    else:
        lines = list(map(_describe_step, steps)) or [f"no gitcfg hook in {done.folder.place}"]
        lines += _describe_protection(protection) if protection is not None else ()
        session.write("".join(f"{safe(line)}\n" for line in lines))
    _warn(session, _find_folder_warnings(done.folder))
    _warn(session, protection.gaps if protection is not None else ())


def _step_to_json(step: "Step") -> Record:
    """Return the effect of a step on a path; `kept` is the path for the earlier hook."""
    from gitcfg.edit.hooks import Action, kept_path
    from gitcfg.git.hooks import settings_in

    words = {
        Action.MAKE: "created",
        Action.KEEP: "kept",
        Action.WRITE: "created" if step.was is None else "changed",
        Action.STAY: "unchanged",
        Action.RESTORE: "restored",
        Action.SET: "changed",
        Action.DELETE: "deleted",
        Action.UNMAKE: "deleted",
    }
    record: Record = {"path": str(step.place), "change": words[step.action]}
    if step.action in (Action.KEEP, Action.RESTORE):
        record["kept"] = str(kept_path(step.place))
    if step.action is Action.SET:
        was, now = settings_in(step.was or b""), settings_in(step.text)
        record |= {"set": sorted(now - was), "unset": sorted(was - now)}
    return record


def _describe_step(step: "Step") -> str:
    """Return what a step did."""
    from gitcfg.edit.hooks import Action, kept_path
    from gitcfg.git.hooks import settings_in

    place, kept = step.place, kept_path(step.place).name
    match step.action:
        case Action.MAKE:
            return f"created {place}"
        case Action.KEEP:
            return f"moved {place} to {kept}: it runs first"
        case Action.WRITE:
            return f"wrote {place}" if step.was is None else f"rewrote {place}"
        case Action.STAY:
            return f"{place} already exists"
        case Action.RESTORE:
            return f"moved {kept} back to {place}"
        case Action.SET:
            was, now = settings_in(step.was or b""), settings_in(step.text)
            keys = " and ".join(sorted(now ^ was))
            return f"set {keys} to true in {place}" if now > was else f"removed {keys} from {place}"
        case Action.DELETE | Action.UNMAKE:
            return f"removed {place}"


def _find_folder_warnings(folder: "HookFolder") -> Iterator[str]:
    if folder.common:
        yield (
            f"core.hooksPath names {folder.place} for all repositories; "
            "the hook ignores those without gitcfg.yaml."
        )
    if (folder.place / "h").is_file() and folder.place.name == "_":
        yield (
            f"husky rewrites {folder.place} when it is set up. Run `gitcfg hook install` again afterwards, "
            "or write `gitcfg hook pre-commit` into .husky/pre-commit instead."
        )


def find_protection(server: Path, settings: "Administrator") -> Protection:
    """Return which refs a server's gate protects, how, and which refs without protection people push to."""
    from gitcfg.gate.push import RepositoryView

    repository = Repository.served(server)
    view = RepositoryView(repository, settings)
    policy = view.policy(None)
    return Protection(
        tuple(policy.protected),
        policy.each,
        policy.ratchet,
        policy.signed,
        tuple(Config(repository).section("gitcfg")),
        tuple(_find_gaps(view, policy, view.refs.head)),
    )


def _protection_to_json(found: Protection) -> Record:
    return {
        "protected": list(found.refs),
        "check": "each" if found.each else "tip",
        "ratchet": found.ratchet,
        "signatures": "require" if found.signed else "off",
        "settings": [{"name": name, "value": value} for name, value in found.settings],
    }


def _describe_protection(found: Protection) -> Iterator[str]:
    """Yield the lines about the protection."""
    record = _protection_to_json(found)
    yield f"protected: {', '.join(found.refs) or 'nothing'}"
    ratchet = str(found.ratchet).lower()
    yield f"check: {record['check']}, ratchet: {ratchet}, signatures: {record['signatures']}"
    for name, value in found.settings:
        yield f"git config {name}: {value}"


def _find_gaps(view: "RepositoryView", policy: "Policy", head: str) -> Iterator[str]:
    if not policy.protects(head):
        yield f"{head}, which HEAD names, is not protected: its errors are reported, but accepted."
    branches = [ref for ref in view.refs.names() if ref.startswith("refs/heads/")]
    if view.refs.tip(head) is None and branches:
        yield (
            f"HEAD names {head}, which does not exist; new branches are checked against it: "
            f"`git symbolic-ref HEAD {branches[0]}` chooses another branch."
        )
    if view.refs.tip(head) is not None and view.tree(view.refs.tip(head)) is None:
        yield (
            f"there is no gitcfg.yaml at the root of {head}. If it is in another folder, "
            "set that: `git config gitcfg.folder FOLDER`."
        )
    if policy.unreadable:
        yield f"gitcfg.yaml of {head} cannot be read, so the strictest settings apply."
    if policy.signed and not policy.signers.strip():
        yield (
            "commits must be signed, but there are no allowed signers: "
            "list them with `git config gitcfg.allowedSigners FILE`."
        )


def _warn(session: Session, lines: Iterable[str]) -> None:
    console = session.console(stderr=True)
    for line in lines:
        console.print(f"warning: {safe(line)}", style="yellow")


hook = Group(
    "Check commits and pushes.",
    {
        "pre-commit": pre_commit,
        "pre-receive": pre_receive,
        "post-receive": post_receive,
        "install": install,
        "remove": remove,
    },
)
