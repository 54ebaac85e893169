"""A generated fleet in a git repository of its own, and commands that are run on it while work is counted."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.generate.options import Operations, Options, Types
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from tests.compile.fleets import TODAY
from tests.work.counting import Work, counting

OPTIONS = Options(
    seed=1,
    nodes=240,
    groups=24,
    features=30,
    parameters=100,
    memberships=3,
    sets=0.25,
    set_size=10,
    identity=0.3,
    operations=Operations(append=12, conjunction=8, disjunction=2, merge=20),
    # A type that follows from what all definitions do is known when all are read; so it may be of instances.
    types=Types(any=0),
    instances=0,
    files=2,
)
WITH_TEMPLATE = "group003"


def fleet_files() -> dict[str, str]:
    """Path to text; nodes of one group have a file made from a template."""
    files = dict(repository(OPTIONS))
    files[f"groups/{WITH_TEMPLATE}.yaml"] += "files: {/etc/motd: {template: motd.j2}}\n"
    files["templates/motd.j2"] = "{{ node.name }} is one of {{ groups }}\n"
    return files


def git(folder: Path, *words: str) -> None:
    """Run git as somebody."""
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


class Pool:
    """The repository: one commit of all files, and nothing kept yet."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self.files = files
        self._fleet: Fleet | None = None
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        git(folder, "init", "--quiet")
        self.commit()

    @property
    def fleet(self) -> Fleet:
        """What the files say, found out apart from the runs that are counted."""
        if self._fleet is None:
            self._fleet = compile_tree(DictTree(self.files), TODAY)
        return self._fleet

    def say(self, path: str, text: str) -> None:
        """Change a file of the work tree."""
        self.files = {**self.files, path: text}
        self._fleet = None
        (self.folder / path).write_text(text)

    def commit(self) -> None:
        """Commit all; as if the index had been written a while after the files."""
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "-m", "m")
        index = self.folder / ".git/index"
        later = index.stat().st_mtime_ns + 5 * 10**9
        os.utime(index, ns=(later, later))

    def forget(self) -> None:
        """Nothing is kept any more."""
        shutil.rmtree(self.folder / ".git/gitcfg", ignore_errors=True)

    def run(self, *words: str) -> Work:
        """What a command does, in this process alone."""
        with counting() as work, pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "sched_getaffinity", lambda _: {0})
            assert run(["-C", str(self.folder), "--today", TODAY.isoformat(), *words]) == 0
        return work

    def cold(self, *words: str) -> Work:
        """The same where nothing is kept."""
        self.forget()
        return self.run(*words)

    def warm(self, *words: str) -> Work:
        """The same a second time."""
        self.run(*words)
        return self.run(*words)
