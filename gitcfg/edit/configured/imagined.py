"""A group that nobody is in, judged as if one node were."""

from datetime import date

from msgspec.structs import replace

from gitcfg.check.run import check
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.part import part
from gitcfg.git.tree import Tree
from gitcfg.model import Finding, ListEdit, Model, Node, Op, Origin, Ref

IMAGINED_NODE = "a-node-of-this-group"


def imagine_fleet(model: Model, tree: Tree, today: date, group: str) -> Fleet:
    """A fleet of one node that is in a group, and in the default group."""
    origin = Origin(f"groups/{group}.yaml")
    groups = () if group == model.settings.default_group else (Ref(group, origin),)
    node = Node(IMAGINED_NODE, origin, groups=ListEdit(Op.SET, groups))
    whole = replace(model, nodes={IMAGINED_NODE: node}, nodesets={}, overrides={})
    return Fleet(part(whole, [IMAGINED_NODE]), tree, today)


def check_imagined(fleet: Fleet) -> tuple[Finding, ...]:
    """What its nodes would lack, or what would clash on them; they are not named, for there are none."""
    found = (finding for finding in check(fleet) if finding.code.startswith("GC30"))
    return tuple(replace(finding, nodes=()) for finding in found)


def imagined_class(fleet: Fleet) -> NodeClass:
    """What its one node is made of."""
    return fleet[IMAGINED_NODE].kind
