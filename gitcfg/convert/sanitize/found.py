"""What must be known of a whole repository before its first word is replaced."""

import re
from collections.abc import Iterable, Iterator, Set

from gitcfg.convert.sanitize.figures import Widths
from gitcfg.convert.sanitize.roles import Role
from gitcfg.convert.sanitize.scalars import Scalar, parse_scalars
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load import yaml
from gitcfg.model.folders import FOLDERS, LAYERS, SHEETS

_JOINT = re.compile(r"[*?]([A-Za-z]{2,})")
_RANGES = re.compile(r"([^\W\d_]+)[-_.]?\[([0-9][0-9,/-]{0,10000})\]")
_LONG_RANGE = re.compile(rb"\[[0-9,/-]*[0-9]{5}")
_SHORT = 4
_GLOBS = (Role.STRUCTURE, Role.ENTRY, Role.NAMED)


def find_joints(trees: Iterable[Tree]) -> Set[str]:
    """Words that follow a star within a word: `*LOG` means `STARTLOG` too."""
    said = (scalar for tree in trees for scalar in _find_scalars(tree, (*SHEETS, *LAYERS), _JOINT))
    globs = {scalar.value for scalar in said if scalar.role in _GLOBS}
    return {joint.lower() for glob in globs for joint in _JOINT.findall(glob)}


def find_widths(trees: Iterable[Tree]) -> Widths:
    """The widths of the numbers of more than four digits in node sets, by the word before them."""
    found: dict[tuple[str, int], int | None] = {}
    for tree in trees:
        for folder in FOLDERS:
            for entry in tree.entries(folder):
                data = tree.read(entry) if entry.kind is EntryKind.FILE else b""
                if _LONG_RANGE.search(data):
                    for said in _RANGES.finditer(data.decode(errors="replace")):
                        _add_widths(found, said[1].lower(), said[2])
    return found


def _add_widths(found: dict[tuple[str, int], int | None], stem: str, ranges: str) -> None:
    for one in re.findall(r"[0-9]+(?:-[0-9]+)?", ranges):
        first, last = (one.split("-") * 2)[:2]
        highest = None if len(first) != len(last) else int(last)
        for width in range(max(len(first), _SHORT + 1), len(last) + 1):
            known = found.setdefault((stem, width), highest)
            found[stem, width] = None if known is None or highest is None else max(known, highest)


def find_parameters(trees: Iterable[Tree]) -> Set[str]:
    """The names of all parameters that are declared."""
    said = (scalar for tree in trees for scalar in _find_scalars(tree, ("parameters",), re.compile("")))
    return {scalar.value for scalar in said if scalar.key and scalar.role is Role.NAMED}


def _find_scalars(tree: Tree, folders: Iterable[str], holding: re.Pattern[str]) -> Iterator[Scalar]:
    """Those of files whose text holds something; of what cannot be parsed, none."""
    for folder in folders:
        for entry in tree.entries(folder):
            text = tree.read(entry).decode(errors="replace") if entry.kind is EntryKind.FILE else ""
            if holding.search(text):
                yield from _parse_or_skip(text)


def _parse_or_skip(text: str) -> Iterator[Scalar]:
    try:
        yield from list(parse_scalars(text))
    except (yaml.YAMLError, UnicodeError):
        return
