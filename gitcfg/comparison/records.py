"""What `diff` writes for programs (interfaces: JSON)."""

from collections.abc import Iterable
from typing import Any

import msgspec

from gitcfg.comparison.change import Change
from gitcfg.model.nodeset import fold

Record = dict[str, Any]


def diff_record(
    old: str | None,
    new: str | None,
    changes: Iterable[Change],
    folded: bool = False,
    secrets: Iterable[Record] = (),
) -> Record:
    """`gitcfg.diff/1`; the commits are None for what is not committed. `secrets` are told if any are."""
    record: Record = {
        "schema": "gitcfg.diff/1",
        "from": old,
        "to": new,
        "changes": [_change(change, folded) for change in changes],
    }
    if found := list(secrets):
        record["secrets"] = found
    return record


def _change(change: Change, folded: bool) -> Record:
    record: Record = {"kind": change.kind, "nodeset": fold(change.nodes), "count": len(change.nodes)}
    record |= msgspec.to_builtins(change)
    if not change.modes:
        del record["modes"]
    if folded:
        del record["nodes"]
    return record
