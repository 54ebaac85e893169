"""The true contents of a node's files with secrets, where the node may have them."""

from collections.abc import Callable, Iterable, Mapping

from gitcfg.compile.fleet import FleetNode
from gitcfg.compile.selection import NodeView, select_nodes
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError, Secret
from gitcfg.model.names import shown
from gitcfg.render.secrets import revealed


def reveal_files(fleet: Fleet, name: str, opened: Callable[[str], str]) -> Mapping[str, str]:
    """Return contents by path; none if the node has no secrets. `opened` returns the value of a secret.

    GitcfgError: the node may not have one, one cannot be opened, or one fits nowhere; it never says a value.
    """
    node = fleet.compiled[name]
    names = sorted(set(node.secrets.values()))
    for secret in find_withheld(fleet, name, names):
        raise GitcfgError(
            f"The secret {shown(secret)} is not for {name}.",
            "`for` in its file says which nodes may have it.",
        )
    return revealed(fleet.compiled, node, fleet.engine, {one: opened(one) for one in names}) if names else {}


def find_withheld(fleet: Fleet, name: str, secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets that a node may not have: the fleet does not know them, or the node."""
    if name not in fleet:
        return tuple(secrets)
    node, known = fleet.compiled[name], fleet.model.secrets
    return tuple(one for one in secrets if one not in known or not _is_for(known[one], node))


def _is_for(secret: Secret, node: FleetNode) -> bool:
    """A condition that cannot be judged lets no node have it."""
    if secret.where is None:
        return False
    view = NodeView(node.name, node.definition, lambda: node.features, lambda: node.params)
    return node.name in select_nodes(secret.where.name, lambda: [view], params=True).names
