"""The folder that all work trees of a git repository share: what holds its objects."""

from pathlib import Path

import pygit2


def shared_folder(git: pygit2.Repository) -> Path:
    """The folder; git writes its path in the folder of each further work tree (`git worktree add`)."""
    own = Path(git.path)
    try:
        return (own / (own / "commondir").read_text().strip()).resolve()
    except OSError:
        return own
