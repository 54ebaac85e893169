"""What a draft changes in files, as a unified diff."""

from collections.abc import Iterator
from difflib import unified_diff

from gitcfg.edit.draft import Draft

_NO_END = "\\ No newline at end of file"


def format_diff(draft: Draft) -> Iterator[str]:
    """The lines of a unified diff as git writes it, without line ends, in order of path."""
    for path, now in sorted(draft.files.items()):
        was = draft.was(path)
        old, new = "/dev/null" if was is None else f"a/{path}", "/dev/null" if now is None else f"b/{path}"
        for line in unified_diff(_lines(was), _lines(now), old, new, lineterm=""):
            yield from line.split("\n", 1)


def _lines(content: bytes | None) -> list[str]:
    """Lines at "\\n" alone; a last one without it carries git's remark, so that it differs from one with."""
    lines = (content or b"").decode("utf-8", "replace").split("\n")
    if lines[-1]:
        lines[-1] += f"\n{_NO_END}"
        return lines
    return lines[:-1]
