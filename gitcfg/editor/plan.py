"""What `gitcfg schema` is to bring up to date: schemas, the lines that name them, an editor's settings."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gitcfg.editor.modelines import FOLDER, with_modeline
from gitcfg.editor.schemas import KINDS, build_schemas
from gitcfg.editor.settle import TargetFile, read_content
from gitcfg.editor.vscode import FILE, merge_settings
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.model import Model

_OWN = FOLDER.partition("/")[0]
_MOST = 1 << 20  # bytes of a file that the loader takes


def plan_schemas(model: Model, root: Path, folder: Path) -> Iterator[TargetFile]:
    """The schemas of a repository. The folder of our own that they usually are in is kept out of git."""
    if folder == root / FOLDER:
        yield TargetFile(root / _OWN / ".gitignore", b"*\n")
    for kind, schema in build_schemas(model).items():
        yield TargetFile(folder / f"{kind}.json", msgspec.json.encode(schema) + b"\n")


def plan_settings(root: Path, folder: str) -> TargetFile:
    """The settings of Visual Studio Code with our schemas. GitcfgError (4): they cannot be merged."""
    was = read_content(root / FILE)
    return TargetFile(root / FILE, merge_settings(was, folder), was)


def plan_modelines(tree: Tree, root: Path, folder: str) -> Iterator[TargetFile]:
    """The files of a work tree that do not say which schema is theirs, as they would."""
    for path in _paths(tree):
        place = root / path
        was = read_content(place)
        if was is None:
            continue
        said = with_modeline(path, was, folder)
        if len(said) <= _MOST:
            yield TargetFile(place, said, was)


def _paths(tree: Tree) -> Iterator[str]:
    yield "gitcfg.yaml"
    for kind in KINDS:
        for entry in tree.entries(kind):
            if entry.kind is EntryKind.FILE and entry.path.endswith(".yaml"):
                yield entry.path
