"""Secrets that somebody names, and the repository in which they are looked up."""

from pathlib import Path
from typing import TYPE_CHECKING

from gitcfg.cli.session import Session, fleet_of
from gitcfg.model import GitcfgError, Model, Secret
from gitcfg.model.names import did_you_mean, shown

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.library import Fleet


def looked_up(session: Session, at: str | None) -> "Fleet":
    """The fleet at a revision or in the work tree; where an edit of that was killed, this says so."""
    source = session.open()
    if at is None and _half_written(source.repository):
        console = session.console(stderr=True)
        console.print("warning: An edit was interrupted: files may be half of it.", style="yellow")
        console.print("hint: Whatever edits next finishes it, `gitcfg secret rekey` say.", style="cyan")
    return fleet_of(source, at)


def _half_written(repository: "Repository") -> bool:
    from gitcfg.edit.transaction import is_pending

    folder = repository.root / ".gitcfg" if repository.git is None else Path(repository.git.path)
    return is_pending(folder)


def known(model: Model, name: str) -> Secret:
    """The secret of that name. GitcfgError: there is none."""
    if name not in model.secrets:
        make = f"`gitcfg secret set {name} --for CEL --recipient KEY` makes it."
        raise GitcfgError(f"There is no secret {shown(name)}.", did_you_mean(name, model.secrets) or make)
    return model.secrets[name]
