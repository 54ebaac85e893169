"""Commits of just the files that an edit wrote: what else is staged stays staged."""

from collections.abc import Iterable
from pathlib import Path

from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown


def commit_files(git: Git, repository: Repository, paths: Iterable[str], message: str) -> str:
    """Commit files as they are in the work tree, and return the commit's id.

    GitcfgError: git, or a hook, does not want that (1); then the index is as it was.
    """
    top = work_tree(repository)
    inside = f"{repository.prefix}/" if repository.prefix else ""
    files = [f"{inside}{path}" for path in paths]
    here = ("-C", str(top), f"--work-tree={top}", "--literal-pathspecs")
    tracked = set(git.say(*here, "ls-files", "-z", "--", *files).split("\0"))
    files = [file for file in files if file in tracked or (top / file).exists()]
    if not files:
        raise GitcfgError("git does not know these files, so there is nothing to commit.", "Drop --commit.")
    new = [file for file in files if file not in tracked]
    if new:
        git.say(*here, "add", "--intent-to-add", "--", *new)
    code, told, error = git.ask(*here, "commit", "--quiet", "--only", "-m", message, "--", *files)
    if code:
        if new:
            git.say(*here, "rm", "--quiet", "--cached", "--force", "--", *new)
        said = [line for line in (*told.splitlines(), *error.splitlines()) if line.strip()]
        raise GitcfgError(
            "`git commit` does not take the edit, so nothing was changed.",
            *(f"git says: {shown(line.strip(), most=200)}" for line in said),
            code=1,
        )
    return git.say("rev-parse", "HEAD")


def work_tree(repository: Repository) -> Path:
    """The top of the work tree. GitcfgError: there is none."""
    git = repository.git_or_error("nothing can be committed in it")
    if not git.workdir:
        raise GitcfgError(f"{repository.root} is no work tree of git's, so nothing can be committed in it.")
    return Path(git.workdir).resolve()
