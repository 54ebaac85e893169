"""Snapshots as data: what `snapshot list` writes for programs, and the messages of what is committed."""

from collections.abc import Iterable
from typing import Any

import msgspec

from gitcfg.git.refs import Snapshot
from gitcfg.git.revert import Span


def snapshots_to_json(snapshots: Iterable[Snapshot]) -> dict[str, Any]:
    """Return the record of snapshots, `gitcfg.snapshots/1`."""
    return {"schema": "gitcfg.snapshots/1", "snapshots": [_item(snapshot) for snapshot in snapshots]}


def _item(snapshot: Snapshot) -> dict[str, Any]:
    return {"tag": f"refs/tags/{snapshot.revision}", **msgspec.to_builtins(snapshot)}


def restore_message(snapshot: Snapshot, more: str | None) -> str:
    """Return the message of the commit that brings a snapshot back."""
    said = f"Restore snapshot {snapshot.name}\n\nThis restores commit {snapshot.commit}.\n"
    return said + (f"\n{more.strip()}\n" if more else "")


def revert_message(span: Span, more: str | None) -> str:
    """Return the message of the commit that undoes others, as `git revert` has it."""
    if len(span.commits) == 1:
        against = f", reversing\nchanges made to {span.parent}" if span.parent is not None else ""
        said = f"{_subject(span.subject)}\n\nThis reverts commit {span.last}{against}.\n"
    else:
        each = "".join(f"This reverts commit {commit}.\n" for commit in span.commits)
        said = f'Revert {len(span.commits)} commits up to "{span.subject}"\n\n{each}'
    return said + (f"\n{more.strip()}\n" if more else "")


def _subject(was: str) -> str:
    """Return the first line: git calls the revert of a revert a reapplication, and goes no further."""
    if was.startswith('Revert "') and was.endswith('"') and not was.startswith('Revert "Revert "'):
        return f"Reapply {was.removeprefix('Revert ')}"
    return f'Revert "{was}"'
