"""Nothing that a definition says is left out: if any field of it is another, so is one of its pieces."""

from datetime import date
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gitcfg.gate.permits.rules import Thing
from gitcfg.gate.permits.statements import Key, Version, list_pieces
from gitcfg.git.tree import DictTree
from gitcfg.model import (
    Binding,
    Fact,
    Feature,
    FileEntry,
    Group,
    Hold,
    ListEdit,
    Model,
    Node,
    NodeSet,
    Op,
    Origin,
    Override,
    Parameter,
    Ref,
    Rule,
    Secret,
    Settings,
    Subsystem,
    Use,
)
from gitcfg.model.rules import Allocation, Domain, RuleKind

AT, DAY = Origin("f.yaml"), date(2026, 1, 1)
PLACES = {"name", "origin", "place", "until_at", "schema_origin", "sealed"}
"""What says where something stands, or under which name: that is the piece's own."""
REF, USE, BOUND = Ref("Z", AT), Use("Z", AT), Binding(Op.SET, 1, None, AT, AT)
ITEMS: dict[tuple[str, str], Any] = {
    ("Node", "groups"): ListEdit(Op.SET, (REF,), AT),
    ("Node", "features"): ListEdit(Op.SET, (USE,), AT),
    ("Node", "without"): ListEdit(Op.SET, (REF,), AT),
    ("NodeSet", "definition"): Node("N", AT, description="Another."),
    ("NodeSet", "facts"): {"n1": {"rack": Fact("r1")}},
    ("Override", "without"): (REF,),
    ("Feature", "include"): (USE,),
    ("Group", "features"): (USE,),
    ("Override", "features"): (USE,),
    ("Rule", "domains"): {"Z": Domain("Z", (1,), AT, (AT,))},
    ("Rule", "feature"): REF,
    ("Allocation", "install"): (REF,),
    ("Allocation", "values"): {"n1": {"Z": BOUND}},
    ("Settings", "walk_in"): (REF,),
    **{(kind, "params"): {"Z": BOUND} for kind in ("Feature", "Group", "Node", "Override", "Rule")},
    **{(kind, "files"): {"/z": FileEntry("/z", AT, ())} for kind in ("Feature", "Group", "Node", "Override")},
    **{(kind, "members"): ("z",) for kind in ("NodeSet", "Override", "Hold")},
}
"""Fields whose items are pieces of their own. Of all others any other value is another text."""
SAID: dict[str, Any] = {
    "features": Feature("N", AT),
    "groups": Group("N", AT),
    "nodes": Node("N", AT),
    "nodesets": NodeSet("N", AT, ("n1",), Node("N", AT)),
    "overrides": Override("N", AT, "Because.", DAY, members=("n1",)),
    "holds": Hold("N", AT, "Because.", DAY, REF, members=("n1",)),
    "parameters": Parameter("N", AT),
    "subsystems": Subsystem("N", AT),
    "secrets": Secret("N", AT),
    "rules": Rule("N", AT, RuleKind.INSTALL),
    "allocations": Allocation("N", AT),
}
TREE = DictTree({"gitcfg.yaml": "format: 1\n"})
FIELDS = [(kind, name) for kind, one in SAID.items() for name in one.__struct_fields__ if name not in PLACES]


def model(settings: Settings, kinds: dict[str, Any]) -> Model:
    given: dict[str, Any] = {kind: {"N": one} for kind, one in kinds.items()}
    return Model(settings, **given)


def told(settings: Settings | None = None, **kinds: Any) -> dict[Key, Any]:
    """The pieces of a model, each with what it says."""
    found = list_pieces(TREE, model(settings or Settings(AT), kinds), Version(TREE))
    return {key: (piece.text, piece.items, piece.members) for key, piece in found}


def other(one: msgspec.Struct, name: str) -> Any:
    """The same with another value of a field."""
    return replace(one, **{name: ITEMS.get((type(one).__name__, name), f"another {name}")})


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=[f"{kind}-{name}" for kind, name in FIELDS])
def test_no_field_is_left_out(kind: str, name: str) -> None:
    one = SAID[kind]
    assert told(**{kind: other(one, name)}) != told(**{kind: one})


@pytest.mark.parametrize("name", [name for name in Settings.__struct_fields__ if name not in PLACES])
def test_no_setting_is_left_out(name: str) -> None:
    assert told(other(Settings(AT), name)) != told()


def test_every_definition_is_about_itself() -> None:
    kinds = {"parameters": "params", "allocations": "rules", "nodesets": "", "overrides": "", "holds": ""}
    for kind, one in SAID.items():
        found = list_pieces(TREE, model(Settings(AT), {kind: one}), Version(TREE))
        things = {thing for _, piece in found for thing in piece.about}
        own = kinds.get(kind, kind)
        assert (Thing(own, "N") if own else Thing("nodes", "n1")) in things
