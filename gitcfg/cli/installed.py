"""What `gitcfg hook install` and `remove` tell: each change they made, and what a server's gate guards."""

from collections.abc import Iterator
from pathlib import Path

from gitcfg.cli.session import Session
from gitcfg.edit.hooks import Action, HookChanges, Step, kept_path
from gitcfg.gate.policy import Administrator, Policy
from gitcfg.gate.push import RepositoryView
from gitcfg.git.hooks import HookFolder, settings_in
from gitcfg.git.repository import Config, Repository
from gitcfg.model.text import safe


def tell(session: Session, done: HookChanges) -> None:
    """A line for each change; what is worth a look is on stderr."""
    lines = [line(step) for step in done.steps if step.deed is not Action.UNMAKE or not step.place.exists()]
    session.write(
        "".join(f"{safe(line)}\n" for line in lines or [f"no hook of gitcfg's in {done.folder.place}"])
    )
    _warn(session, _noteworthy(done.folder))


def line(step: Step) -> str:
    """What a step did."""
    place, kept = step.place, kept_path(step.place).name
    match step.deed:
        case Action.MAKE:
            return f"made {place}"
        case Action.KEEP:
            return f"moved {place} to {kept}: it runs first"
        case Action.WRITE:
            return f"wrote {place}" if step.was is None else f"wrote {place} anew"
        case Action.STAY:
            return f"{place} is there already"
        case Action.RESTORE:
            return f"moved {kept} back to {place}"
        case Action.SET:
            was, now = settings_in(step.was or b""), settings_in(step.text)
            keys = " and ".join(sorted(now ^ was))
            return f"set {keys} to true in {place}" if now > was else f"took {keys} out of {place}"
        case Action.DELETE | Action.UNMAKE:
            return f"removed {place}"


def _noteworthy(folder: HookFolder) -> Iterator[str]:
    if folder.common:
        yield (
            f"core.hooksPath names {folder.place} for all repositories; "
            "the hook leaves those without gitcfg.yaml alone."
        )
    if (folder.place / "h").is_file() and folder.place.name == "_":
        yield (
            f"husky writes {folder.place} anew when it is set up. Run `gitcfg hook install` again then, "
            "or write `gitcfg hook pre-commit` into .husky/pre-commit instead."
        )


def tell_protection(session: Session, server: Path, said: Administrator) -> None:
    """Which refs a server's gate guards, and how; a warning where that is not what is pushed to."""
    repository = Repository.served(server)
    view = RepositoryView(repository, said)
    head = view.refs.head
    demanded = view.policy(None)
    said_here = Config(repository).section("gitcfg")
    session.write("".join(f"{safe(line)}\n" for line in _guards(demanded, said_here)))
    _warn(session, _gaps(view, demanded, head))


def _guards(demanded: Policy, said: Iterator[tuple[str, str]]) -> Iterator[str]:
    yield f"protected: {', '.join(demanded.protected) or 'nothing'}"
    yield (
        f"check: {'each' if demanded.each else 'tip'}, ratchet: {str(demanded.ratchet).lower()}, "
        f"signatures: {'require' if demanded.signed else 'off'}"
    )
    for name, value in said:
        yield f"git config {name}: {value}"


def _gaps(view: RepositoryView, demanded: Policy, head: str) -> Iterator[str]:
    if not demanded.protects(head):
        yield f"{head}, which HEAD names, is not protected: what is wrong there is told, and taken."
    branches = [ref for ref in view.refs.names() if ref.startswith("refs/heads/")]
    if view.refs.tip(head) is None and branches:
        yield (
            f"there is no {head}, which HEAD names and new branches are judged by: "
            f"`git symbolic-ref HEAD {branches[0]}` names another one."
        )
    if view.refs.tip(head) is not None and view.tree(view.refs.tip(head)) is None:
        yield (
            f"there is no gitcfg.yaml at the root of {head}. If it lies in a folder of git's tree, "
            "say so: `git config gitcfg.folder FOLDER`."
        )
    if demanded.unreadable:
        yield f"gitcfg.yaml of {head} cannot be read, so the strictest settings count."
    if demanded.signed and not demanded.signers.strip():
        yield (
            "commits must be signed, and nobody may sign: "
            "`git config gitcfg.allowedSigners FILE` names who may."
        )


def _warn(session: Session, lines: Iterator[str]) -> None:
    console = session.console(stderr=True)
    for line in lines:
        console.print(f"warning: {safe(line)}", style="yellow")
