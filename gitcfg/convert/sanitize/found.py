"""What must be known of a whole repository before its first word is replaced."""

import re
from collections.abc import Iterable, Iterator, Set

from gitcfg.convert.sanitize.roles import Role
from gitcfg.convert.sanitize.scalars import Scalar, scalars
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load import yaml
from gitcfg.model.kinds import LAYERS, SHEETS

_JOINT = re.compile(r"[*?]([A-Za-z]{2,})")
_GLOBS = (Role.STRUCTURE, Role.ENTRY, Role.NAMED)


def joints(trees: Iterable[Tree]) -> Set[str]:
    """Words that follow a star within a word: `*LOG` means `STARTLOG` too."""
    said = (scalar for tree in trees for scalar in _scalars(tree, (*SHEETS, *LAYERS), _JOINT))
    globs = {scalar.value for scalar in said if scalar.role in _GLOBS}
    return {joint.lower() for glob in globs for joint in _JOINT.findall(glob)}


def parameters(trees: Iterable[Tree]) -> Set[str]:
    """The names of all parameters that are declared."""
    said = (scalar for tree in trees for scalar in _scalars(tree, ("parameters",), re.compile("")))
    return {scalar.value for scalar in said if scalar.key and scalar.role is Role.NAMED}


def _scalars(tree: Tree, folders: Iterable[str], holding: re.Pattern[str]) -> Iterator[Scalar]:
    """Those of files whose text holds something; of what cannot be parsed, none."""
    for folder in folders:
        for entry in tree.entries(folder):
            text = tree.read(entry).decode(errors="replace") if entry.kind is EntryKind.FILE else ""
            if holding.search(text):
                yield from _of(text)


def _of(text: str) -> Iterator[Scalar]:
    try:
        yield from list(scalars(text))
    except (yaml.YAMLError, UnicodeError):
        return
