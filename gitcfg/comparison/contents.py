"""Changed files with their contents: unified diffs, each distinct one with all its nodes."""

from collections.abc import Iterator
from difflib import unified_diff

import msgspec

from gitcfg.comparison.change import Change
from gitcfg.comparison.comparison import Comparison
from gitcfg.comparison.files import differ
from gitcfg.render.files import RenderedFile

MISSING_END = "\\ No newline at end of file"


class FileDiff(msgspec.Struct, frozen=True):
    """What changes in one file on some nodes: the lines of a unified diff as git writes it, headers
    included, without line ends.
    """

    path: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]


def file_diffs(comparison: Comparison, change: Change) -> Iterator[FileDiff]:
    """Every distinct diff behind the paths of a change, in order of path and node."""
    for path in change.files:
        nodes: dict[tuple[str, ...], list[str]] = {}
        for together in comparison.alike(change.nodes):
            for names, (old, new) in comparison.files.versions(path, together):
                if differ(old, new):
                    nodes.setdefault(tuple(_unified(path, old, new)), []).extend(names)
        for lines in sorted(nodes, key=lambda lines: min(nodes[lines])):
            yield FileDiff(path, tuple(sorted(nodes[lines])), lines)


def _unified(path: str, old: RenderedFile | None, new: RenderedFile | None) -> Iterator[str]:
    inner = path.lstrip("/")
    yield f"diff --git a/{inner} b/{inner}"
    yield from _attributes(old, new)
    names = (f"a/{inner}" if old else "/dev/null", f"b/{inner}" if new else "/dev/null")
    for line in unified_diff(_lines(old), _lines(new), *names, lineterm=""):
        yield from line.split("\n", 1)


def _attributes(old: RenderedFile | None, new: RenderedFile | None) -> Iterator[str]:
    if old is None or new is None:
        file = old or new
        if file is not None:
            yield f"{'new' if old is None else 'deleted'} file mode 10{file.mode}"
        return
    for what, before, after in (
        ("mode", f"10{old.mode}", f"10{new.mode}"),
        ("owner", old.owner, new.owner),
        ("group", old.group, new.group),
    ):
        if before != after:
            yield f"old {what} {before}"
            yield f"new {what} {after}"


def _lines(file: RenderedFile | None) -> list[str]:
    """Lines at "\\n" alone; a last one without it carries git's remark, so that it differs from one with."""
    lines = file.content.split("\n") if file else []
    if lines and lines[-1]:
        lines[-1] += f"\n{MISSING_END}"
    return lines if lines and lines[-1] else lines[:-1]
