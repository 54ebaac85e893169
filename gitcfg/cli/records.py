"""Records for programs: written as one document, or as a line for each item."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from gitcfg.cli.session import Output, write, write_bytes

Record = dict[str, Any]


class Items(NamedTuple):
    """A record with items: its schema, the items' key, the name of an item's type, and the key of its name.

    Without a key of their own, names have the item's type as the key.
    """

    schema: str
    key: str
    item: str
    name: str = ""


ITEMS: dict[str, Items] = {}
"""The items of each record that commands declare, by schema."""


def write_record(record: Record, output: Output) -> None:
    """Write a record as JSON, JSON lines or YAML. It names its schema; so does every line."""
    if output is Output.YAML:
        from gitcfg.load.yaml import dump

        write(dump(msgspec.to_builtins(record)))
    elif output is Output.JSON:
        write_bytes((msgspec.json.format(msgspec.json.encode(record), indent=2), b"\n"))
    else:
        write_bytes(msgspec.json.encode(line) + b"\n" for line in lines(record))


def lines(record: Record) -> Iterator[Record]:
    """Yield a record for each item: the fields of the whole record, and the item's own.

    The schema of a line is named after its item.
    """
    items = ITEMS[record["schema"]]
    head = {key: value for key, value in record.items() if key != items.key}
    head["schema"] = f"gitcfg.{items.item}/{record['schema'].rpartition('/')[2]}"
    found = record[items.key]
    if isinstance(found, dict):
        for name, item in found.items():
            yield {**head, items.name or items.item: name, **item}
    else:
        for item in found:
            yield {**head, **item}
