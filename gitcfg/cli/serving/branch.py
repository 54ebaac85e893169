"""Does the branch's tip count? What a server says of that, or its database and the repository."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gitcfg.cli.database import address, opened
from gitcfg.cli.serving.remote import ask
from gitcfg.cli.serving.said import Asked
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state import State

_EVENTS = 1000


def note(repository: "Repository | None", asked: Asked) -> str:
    """What is to be said of a tip that does not count; nothing where it does, or nobody knows."""
    if asked.server is not None:
        return told(ask(asked.server, asked.token, "/v1/commits"))
    url = address(repository, asked) if repository is not None else None
    if repository is None or url is None:
        return ""
    with opened(url) as state:
        return told(_kept(repository, state))


def told(standing: Mapping[str, Any]) -> str:
    """A sentence on a tip that does not count, by `gitcfg.commits/1`."""
    tip, accepted = standing["tip"], standing["accepted"]
    if tip is None or accepted is None or tip == accepted:
        return ""
    where = f"{safe(str(standing['ref']).removeprefix('refs/heads/'))} is at {safe(tip[:ABBREVIATED])}"
    counts = f"what counts is {safe(accepted[:ABBREVIATED])}"
    if not standing["errors"]:
        return f"note: {where}, which no server has taken up yet; {counts}."
    wrong = counted(standing["errors"], "error")
    return f"note: {where}, which has {wrong}, so that {counts}. {safe(standing['message'])}"


def _kept(repository: "Repository", state: "State") -> dict[str, Any]:
    """As a server would say it: what it accepted last, and what it has found wrong with the tip."""
    from gitcfg.server.source import find_tip

    newest = state.releases.newest(1)
    tip = find_tip(repository)
    events = state.events.after(max(0, state.events.newest() - _EVENTS), _EVENTS)
    wrong = [event.data for event in events if event.kind == "invalid" and event.data["tip"] == tip.commit]
    said = wrong[-1] if wrong else {}
    return {
        "ref": tip.ref,
        "tip": tip.commit,
        "accepted": newest[0].commit if newest else None,
        "errors": said.get("errors", 0),
        "message": said.get("message", ""),
    }
