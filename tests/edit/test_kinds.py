"""What can be edited is what there is: folders, kinds and keys are those of the program's own schemas."""

import json
from typing import Any

import msgspec
import pytest

from gitcfg.bundled import read_schema
from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.model import Model
from gitcfg.model.names import FOLDERS, SHEETS, SINGLES

UNSUPPORTED = ("resources",)


def said(kind: Kind) -> dict[str, Any]:
    """What the schema says of one definition."""
    whole = json.loads(read_schema(kind.sheet or kind.name))
    found = whole["properties"][kind.sheet]["additionalProperties"] if kind.sheet else whole
    return dict(found["properties"])


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_keys_are_those_of_the_schema_in_its_order(kind: Kind) -> None:
    assert kind.keys == tuple(key for key in said(kind) if key not in UNSUPPORTED)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_lists_and_mappings_are_keys(kind: Kind) -> None:
    besides = {"nodes"} if kind.name == "group" else set()
    assert {*kind.lists, *kind.maps} - set(kind.keys) == besides


def test_every_definition_can_be_edited() -> None:
    assert {kind.folder for kind in KINDS.values()} == {*SINGLES, *SHEETS}


def test_a_model_has_a_mapping_for_each_folder_of_definitions() -> None:
    fields = {field.name for field in msgspec.structs.fields(Model)}
    assert {*SINGLES, *SHEETS} <= fields & set(FOLDERS)
