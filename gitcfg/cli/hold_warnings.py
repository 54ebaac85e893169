"""Warnings of holds whose commits no server will have, as far as that can be known here."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitcfg.gate.holds import describe_stray_holds, has_holds

if TYPE_CHECKING:
    from gitcfg.git.history import History
    from gitcfg.git.repository import Repository
    from gitcfg.library import Fleet, Source


def find_warnings(source: "Source", fleet: "Fleet") -> Iterator[str]:
    """Yield a warning for each. In a shallow clone nothing is known of commits that are not here."""
    from gitcfg.git.history import History

    repository = source.repository
    if not has_holds(fleet) or not repository.knows("HEAD"):
        return
    history = History(repository)
    if not history.shallow:
        head = fleet.commit or str(repository.commit("HEAD").id)
        for text in describe_stray_holds(
            fleet, lambda commit: describe_fault(repository, history, head, commit)
        ):
            yield f"warning: {text}"


def describe_fault(repository: "Repository", history: "History", head: str, commit: str) -> str:
    """Say what is wrong with a commit at which nodes are held; "" if nothing is."""
    if not repository.knows(commit):
        return "and there is no such commit here"
    if history.includes(head, str(repository.commit(commit).id)):
        return ""
    return "which is not in the past of what is checked: servers have what a protected branch has"
