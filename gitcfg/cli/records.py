"""Records on their way out, for programs: as one document, or a line for each item."""

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.cli.session import Output, write

Record = dict[str, Any]

ITEMS = {
    "gitcfg.findings/1": ("findings", "finding"),
    "gitcfg.render/1": ("nodes", "rendered"),
    "gitcfg.trail/1": ("params", "param"),
    "gitcfg.why/1": ("answers", "answer"),
    "gitcfg.values/1": ("values", "value"),
    "gitcfg.definitions/1": ("definitions", "definition"),
    "gitcfg.matches/1": ("matches", "match"),
    "gitcfg.diff/1": ("changes", "change"),
    "gitcfg.log/1": ("commits", "commit"),
    "gitcfg.graph/1": ("vertices", "vertex"),
    "gitcfg.snapshots/1": ("snapshots", "snapshot"),
    "gitcfg.releases/1": ("releases", "release"),
    "gitcfg.holds/1": ("holds", "hold"),
    "gitcfg.overrides/1": ("overrides", "override"),
    "gitcfg.keys/1": ("keys", "key"),
    "gitcfg.inventory/1": ("nodes", "standing"),
    "gitcfg.tokens/1": ("tokens", "token"),
    "gitcfg.policy/1": ("commands", "permission"),
    "gitcfg.may/1": ("answers", "permit"),
    "gitcfg.deploy/1": ("nodes", "deployed"),
    "gitcfg.secrets/1": ("secrets", "secret"),
    "gitcfg.deploys/1": ("deploys", "run"),
    "gitcfg.deployment/1": ("nodes", "turn"),
    "gitcfg.solve/1": ("changes", "decision"),
    "gitcfg.rules/1": ("rules", "rule"),
}
"""By schema: the key under which a record holds its items, and what one of them is called."""
_NAMED = {"gitcfg.render/1": "node"}  # else the key of an item's name is what the item is called


def write_record(record: Record, output: Output) -> None:
    """Write a record as JSON, JSON lines or YAML. It names its schema; so does every line."""
    if output is Output.YAML:
        from gitcfg.load.yaml import dump

        write(dump(msgspec.to_builtins(record)))
        return
    if output is Output.JSON:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
        return
    for line in lines(record):
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")


def lines(record: Record) -> Iterator[Record]:
    """One record for each item: what the whole says of itself, and the item's own.

    A line's schema is called as its item is; where items have names, that is mostly the name's key too.
    """
    many, one = ITEMS[record["schema"]]
    named = _NAMED.get(record["schema"], one)
    head = {key: value for key, value in record.items() if key != many}
    head["schema"] = f"gitcfg.{one}/{record['schema'].rpartition('/')[2]}"
    items = record[many]
    if isinstance(items, dict):
        for name, item in items.items():
            yield {**head, named: name, **item}
    else:
        for item in items:
            yield {**head, **item}
