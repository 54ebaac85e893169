"""A schema's name says one thing, on the command line as over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitcfg.cli.app import build
from gitcfg.cli.commands import COMMANDS
from gitcfg.cli.records import ITEMS
from gitcfg.inventory.nodes import NodeStatus
from gitcfg.server.http import FILE

ROOT = Path(__file__).parent.parent.parent


def named(schema: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """The schemas that have a name, each with the keys of what it describes."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict) and "const" in properties.get("schema", {}):
            yield properties["schema"]["const"], frozenset(properties)
        for inner in schema.values():
            yield from named(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from named(inner)


def every() -> dict[str, set[frozenset[str]]]:
    found: dict[str, set[frozenset[str]]] = {}
    for file in (*sorted((ROOT / "schema/output").glob("*.json")), FILE):
        for name, keys in named(json.loads(file.read_text())):
            found.setdefault(name, set()).add(keys)
    return found


def test_one_name_is_of_one_document() -> None:
    alike = every()
    assert len(alike) > 40
    # What is more general there than here has no keys of its own to be compared.
    several = {name: keys for name, keys in alike.items() if len({one for one in keys if len(one) > 1}) > 1}
    assert not several


def test_no_line_is_called_as_what_travels_to_nodes() -> None:
    build(COMMANDS)  # each declares its records
    lines = {f"gitcfg.{items.item}/1" for items in ITEMS.values()}
    assert "gitcfg.rendered/1" in lines
    assert not lines & {"gitcfg.node/1", "gitcfg.nodes/1", "gitcfg.target/1", "gitcfg.changes/1"}


def test_the_words_for_states_are_the_same_everywhere() -> None:
    words = [each.value for each in NodeStatus]
    here = json.loads((ROOT / "schema/output/inventory.json").read_text())
    assert here["$defs"]["standing"]["properties"]["state"]["enum"] == [*words, None]
    there = json.loads(FILE.read_text())["components"]["schemas"]["InventoryNode"]["properties"]
    assert there["state"]["enum"] == words
    text = (ROOT / "docs/nodes.md").read_text()
    listed = text.partition("If several are true")[2].partition(": ")[2].partition(".")[0]
    assert [word.strip() for word in listed.split(",")] == words
