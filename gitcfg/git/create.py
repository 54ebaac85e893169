"""New git repositories, and commits of whole files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pygit2


def initialise(folder: Path, hooks: Mapping[str, str]) -> pygit2.Repository:
    """The git repository of a folder, made where there is none; hooks that are there stay."""
    found = pygit2.discover_repository(str(folder))
    git = pygit2.Repository(found) if found else pygit2.init_repository(str(folder), initial_head="main")
    for name, text in hooks.items():
        hook = Path(git.path) / "hooks" / name
        if not hook.exists():
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(text)
            hook.chmod(0o755)
    return git


def commit_all(git: pygit2.Repository, paths: Iterable[str], message: str) -> str | None:
    """Commit files as the first commit; None where it would not be the first, or git knows no author."""
    if not git.head_is_unborn:
        return None
    for path in paths:
        git.index.add(path)
    git.index.write()
    try:
        author = git.default_signature
    except KeyError:
        return None
    tree = git.index.write_tree()
    return str(git.create_commit("HEAD", author, author, message + "\n", tree, []))
