"""What nodes have said, asked of a server or read in its database."""

from typing import TYPE_CHECKING

from gitcfg.cli.database import address, nowhere, opened
from gitcfg.cli.serving.remote import ask
from gitcfg.cli.serving.said import Asked
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state import NodeState


def told(repository: "Repository", asked: Asked, facts: bool = False) -> "list[NodeState]":
    """What all nodes have said. GitcfgError: no server keeps its state here, or it does not answer."""
    found = heard(repository, asked, facts)
    if found is None:
        raise nowhere()
    return found


def heard(repository: "Repository", asked: Asked, facts: bool = False) -> "list[NodeState] | None":
    """What all nodes have said; None: nobody is asked, and no server keeps its state here."""
    if asked.server is not None:
        return _over_http(asked.server, asked.token, facts)
    url = address(repository, asked)
    if url is None:
        return None
    with opened(url) as state:
        return state.checkins.nodes()


def _over_http(server: str, token: str | None, facts: bool) -> "list[NodeState]":
    from gitcfg.inventory.told import node_states

    record = ask(server, token, "/v1/nodes?facts=1" if facts else "/v1/nodes")
    try:
        return node_states(record)
    except ValueError as error:
        hint = "It may be of another version than this gitcfg."
        raise GitcfgError(f"{server} tells its nodes in a way that is not known: {error}.", hint) from None
