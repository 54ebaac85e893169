"""Wallaby's own groups: the default group, the skeleton, and each node's identity group."""

import hashlib
from collections.abc import Mapping

from gitcfg.convert.wallaby.store import Group, Node, Store

DEFAULT = "+++DEFAULT"
SKELETON = "+++SKEL"


def find_identities(store: Store) -> Mapping[str, Node]:
    """By name, the identity groups that nodes have, or would have."""
    known = {group.name for group in store.groups}
    return {node.idgroup if node.idgroup in known else _derive_identity(node): node for node in store.nodes}


def _derive_identity(node: Node) -> str:
    return "+++" + hashlib.md5(node.name.encode(), usedforsecurity=False).hexdigest()


def find_identity_groups(store: Store) -> Mapping[str, Group]:
    """By the node's name, its identity group, where there is one."""
    owners = find_identities(store)
    return {owners[group.name].name: group for group in store.groups if group.name in owners}
