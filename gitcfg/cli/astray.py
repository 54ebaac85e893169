"""Warnings of holds whose commits a server will not have, as far as that can be known here."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitcfg.gate.astray import astray, holds

if TYPE_CHECKING:
    from gitcfg.git.history import History
    from gitcfg.git.repository import Repository
    from gitcfg.library import Fleet, Source


def warnings(source: "Source", fleet: "Fleet") -> Iterator[str]:
    """A line for each. In a shallow clone nothing can be known of commits that are not here."""
    from gitcfg.git.history import History

    repository = source.repository
    if not holds(fleet) or not repository.knows("HEAD"):
        return
    history = History(repository)
    if not history.shallow:
        head = fleet.commit or str(repository.commit("HEAD").id)
        for text in astray(fleet, lambda commit: wrong(repository, history, head, commit)):
            yield f"warning: {text}"


def wrong(repository: "Repository", history: "History", head: str, commit: str) -> str:
    """What is wrong with a commit at which nodes are held."""
    if not repository.knows(commit):
        return "and there is no such commit here"
    if history.includes(head, str(repository.commit(commit).id)):
        return ""
    return "which is not in the past of what is checked: servers have what a protected branch has"
