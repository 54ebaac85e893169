"""The shell in which a page's commands are run: one folder, a fixed user, days that pass."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

FIRST_COMMIT = datetime(2026, 1, 5, 9)
TODAY = "2026-02-01"
SECONDS = 120

_MAKES = re.compile(r"gitcfg (init|import)\b")
_BEGINS = re.compile(rf"{_MAKES.pattern}|(mkdir|cp|ls|cat|git init) ")
_COMMITS = re.compile(r"\bgit (commit|merge|revert)\b")


class Place(msgspec.Struct):
    """Where the next command of a page is run, and how many before it made commits.

    `programs` is where gitcfg is.
    """

    home: Path
    folder: Path
    own: Path
    programs: Path = Path(sys.executable).parent
    commits: int = 0


def begin(first: str, place: Place) -> None:
    """The folder in which a page's first command is run."""
    (place.home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Byron\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
        "[advice]\n\tdetachedHead = false\n"
    )
    if place.own.is_dir():
        shutil.copytree(place.own, place.home, dirs_exist_ok=True)
    if not _BEGINS.match(first):
        execute("gitcfg init pool --from htcondor", place)
        place.folder = place.home / "pool"


def execute(command: str, place: Place) -> str:
    """What a command prints. Where it ends is where the next one begins."""
    state = place.home / ".folder"
    script = f'{command}\nprintf %s "$PWD" > {shlex.quote(str(state))}\n'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=place.folder,
        env=_environment(place),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=False,
    )
    place.folder = Path(state.read_text())
    place.commits += bool(_COMMITS.search(command))
    if _MAKES.search(command):
        _date_first_commit(place)
    text = done.stdout.decode().replace(str(place.home), "~")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _environment(place: Place) -> dict[str, str]:
    when = (FIRST_COMMIT + timedelta(days=place.commits)).isoformat()
    return {
        "PATH": f"{place.programs}:{os.environ['PATH']}",
        "HOME": str(place.home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": f"{when}Z",
        "GIT_COMMITTER_DATE": f"{when}Z",
        "GITCFG_TODAY": TODAY,
        "GITCFG_PROGRESS": "never",
    }


def _date_first_commit(place: Place) -> None:
    """gitcfg takes the clock's time for the first commit of a new repository: here it is the page's."""
    for folder in place.home.glob("*/.git"):
        git = ["git", "-C", str(folder.parent)]
        count = subprocess.run([*git, "rev-list", "--count", "HEAD"], capture_output=True, check=False)
        if count.stdout.strip() == b"1":
            amend = ["commit", "--quiet", "--amend", "--no-edit", "--no-verify", "--reset-author"]
            subprocess.run([*git, *amend], env=_environment(place), check=True)
    place.commits = max(place.commits, 1)


def hashes(home: Path) -> frozenset[str]:
    """The hashes of all commits that a page has made."""
    found: set[str] = set()
    for folder in home.glob("**/.git"):
        git = ["git", f"--git-dir={folder}", "rev-list", "--all", "--reflog"]
        found.update(subprocess.run(git, capture_output=True, text=True, check=True).stdout.split())
    return frozenset(found)
