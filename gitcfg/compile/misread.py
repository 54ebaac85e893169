"""Classes of which not everything is known, since a definition of theirs could not be understood."""

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.layers import NOWHERE
from gitcfg.compile.nodes import Said
from gitcfg.compile.stacks import Stacks
from gitcfg.model import Model


def misread(stacks: Stacks, kind: NodeClass) -> bool:
    """Could anything that a class is made of not be understood?"""
    model = stacks.model
    unread = model.unread.get
    if unread("rules") or unread("allocations"):
        return True  # on which nodes they would have counted is not known
    groups = {model.settings.default_group, *kind.groups}
    return bool(
        groups & unread("groups", NOWHERE)
        or stacks.unfiltered(kind) & unread("features", NOWHERE)
        or half_said(model, kind.said)
        or any(override.name in unread("overrides", NOWHERE) for override in kind.overrides)
    )


def half_said(model: Model, said: Said) -> bool:
    """Could what is said of a node itself not be understood?"""
    unread, own, nodeset = model.unread.get, said.own, said.nodeset
    return (own is not None and own.name in unread("nodes", NOWHERE)) or (
        nodeset is not None and nodeset.name in unread("nodesets", NOWHERE)
    )
