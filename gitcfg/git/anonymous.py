"""A new repository of versions that are given whole, in commits that name nobody and no time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pygit2
from pygit2.enums import CheckoutStrategy, FileMode

from gitcfg.git.tree import Content, Submodule, Symlink

_NOBODY = pygit2.Signature("gitcfg", "gitcfg@localhost", 0, 0)
_NO_COMMIT = "1" * 40  # what a submodule is at: git takes no zeros there


def commit_versions(folder: Path, versions: Sequence[Mapping[str, Content]]) -> None:
    """Commit one version after another on main, and check the last one out."""
    git = pygit2.init_repository(str(folder), initial_head="main")
    git.config["core.autocrlf"] = "false"
    parents: list[pygit2.Oid] = []
    for number, files in enumerate(versions, 1):
        tree = _tree(git, files)
        parents = [git.create_commit("HEAD", _NOBODY, _NOBODY, f"Version {number}\n", tree, parents)]
    git.checkout("HEAD", strategy=CheckoutStrategy.FORCE)


def _tree(git: pygit2.Repository, files: Mapping[str, Content]) -> pygit2.Oid:
    index = pygit2.Index()
    for path, content in files.items():
        id, mode = _object(git, content)
        index.add(pygit2.IndexEntry(path, id, mode))
    return index.write_tree(git)


def _object(git: pygit2.Repository, content: Content) -> tuple[pygit2.Oid, FileMode]:
    if isinstance(content, Submodule):
        return pygit2.Oid(hex=_NO_COMMIT), FileMode.COMMIT
    data = content.encode() if isinstance(content, str) else content
    return git.create_blob(data), FileMode.LINK if isinstance(content, Symlink) else FileMode.BLOB
