"""A sanitized repository on disk: there whole, or not at all."""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from gitcfg.git.commit import commit_versions
from gitcfg.git.tree import Content
from gitcfg.model import REFUSED, GitcfgError


def write_repository(folder: Path, versions: Sequence[Mapping[str, Content]]) -> None:
    """Make a git repository of these versions, the last one checked out; its commits name nobody.

    It is made beside the folder and moved there. GitcfgError (4): the folder is there and holds something.
    """
    check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undone:
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.gitcfg-", dir=folder.parent))
        undone.callback(shutil.rmtree, made, ignore_errors=True)
        commit_versions(made, versions)
        os.rename(made, folder)
        undone.pop_all()


def check_folder(folder: Path) -> None:
    """GitcfgError (4): something is there already."""
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise GitcfgError(f"{folder} is there already.", "Choose a new folder.", code=REFUSED)
