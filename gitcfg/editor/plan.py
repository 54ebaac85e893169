"""What `gitcfg schema` is to bring up to date: schemas, the lines that name them, an editor's settings."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gitcfg.editor.modelines import FOLDER, with_modeline
from gitcfg.editor.schemas import KINDS, schemas
from gitcfg.editor.settle import Wanted, content
from gitcfg.editor.vscode import FILE, merged
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.model import Model

_OWN = FOLDER.partition("/")[0]
_MOST = 1 << 20  # bytes of a file that the loader takes


def plan(model: Model, root: Path, folder: Path) -> Iterator[Wanted]:
    """The schemas of a repository. The folder of our own that they usually are in is kept out of git."""
    if folder == root / FOLDER:
        yield Wanted(root / _OWN / ".gitignore", b"*\n")
    for kind, schema in schemas(model).items():
        yield Wanted(folder / f"{kind}.json", msgspec.json.encode(schema) + b"\n")


def settings(root: Path, folder: str) -> Wanted:
    """The settings of Visual Studio Code with our schemas. GitcfgError (4): they cannot be merged."""
    was = content(root / FILE)
    return Wanted(root / FILE, merged(was, folder), was)


def lines(tree: Tree, root: Path, folder: str) -> Iterator[Wanted]:
    """The files of a work tree that do not say which schema is theirs, as they would."""
    for path in _paths(tree):
        place = root / path
        was = content(place)
        if was is None:
            continue
        said = with_modeline(path, was, folder)
        if len(said) <= _MOST:
            yield Wanted(place, said, was)


def _paths(tree: Tree) -> Iterator[str]:
    yield "gitcfg.yaml"
    for kind in KINDS:
        for entry in tree.entries(kind):
            if entry.kind is EntryKind.FILE and entry.path.endswith(".yaml"):
                yield entry.path
