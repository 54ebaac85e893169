"""How long a rendered ref takes, first, again, and after one group changed, beside writing everything.

`python -m bench.ref [REPOSITORY]`: a git repository with commits, which is copied; else one is generated.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path

from bench.output import taken
from gitcfg.cache import open_cache
from gitcfg.generate import large, repository
from gitcfg.git.repository import Repository
from gitcfg.library import Fleet
from gitcfg.output.branch import Publisher, PublishOutcome, PublishRequest
from gitcfg.output.folder import Scope
from gitcfg.output.source import File, Ingredients, open_fleet_source

REF = "refs/heads/rendered-bench"
WORKERS = 2
_IDENTITY = {
    f"GIT_{role}_{key}": f"bench@{key}.example"
    for role in ("AUTHOR", "COMMITTER")
    for key in ("NAME", "EMAIL")
}


def git(place: Path, *words: str, given: bytes = b"") -> str:
    """What git says."""
    call = ["git", "-C", str(place), *words]
    environment = {**os.environ, **_IDENTITY}
    done = subprocess.run(call, input=given, check=True, capture_output=True, env=environment)
    return done.stdout.decode().strip()


def copied(argument: str | None, home: Path) -> Path:
    """A bare repository of its own."""
    place = home / "r.git"
    if argument is not None:
        subprocess.run(["git", "clone", "--quiet", "--bare", argument, str(place)], check=True)
        return place
    subprocess.run(["git", "init", "--quiet", "--bare", str(place)], check=True)
    commit(place, repository(large(7)).items(), None)
    return place


def commit(place: Path, files: Iterable[tuple[str, str]], parent: str | None) -> str:
    """Files committed on HEAD's branch, after a parent and with what that has."""
    branch = git(place, "symbolic-ref", "HEAD")
    head = f"commit {branch}\ncommitter b <b@example.com> 0 +0000\ndata 1\nx\n"
    parts = [head.encode(), f"from {parent}\n".encode() if parent else b""]
    for path, text in files:
        data = text.encode()
        parts.append(b'M 100644 inline "%b"\ndata %d\n%b\n' % (path.encode(), len(data), data))
    git(place, "fast-import", "--quiet", "--force", given=b"".join(parts))
    return git(place, "rev-parse", "HEAD")


def one_group_changed(place: Path) -> str:
    """A commit in which a group sets one parameter more."""
    path = git(place, "ls-tree", "--name-only", "HEAD", "groups/").splitlines()[3]
    text = git(place, "show", f"HEAD:{path}") + "\n"
    assert "params:\n" in text
    changed = text.replace("params:\n", 'params:\n  BENCH: "1"\n', 1)
    declared = "parameters: {BENCH: {type: string}}\n"
    base = commit(place, [("parameters/bench.yaml", declared)], git(place, "rev-parse", "HEAD"))
    return commit(place, [(path, changed)], base)


def fleet(place: Path, revision: str) -> Fleet:
    """The fleet of a commit, with what the last one left in the cache."""
    opened = Repository.open(place)
    tree = opened.at(revision)
    return Fleet(tree, opened.before(tree), date(2026, 11, 22), open_cache(opened, os.geteuid()))


def plain(subject: Fleet, top: Path) -> None:
    """Every file rendered and written, as a simple program would."""
    with open_fleet_source(subject.compiled, Ingredients(subject.compiled)) as source:
        for node in subject:
            for file in source.files(node):
                if isinstance(file, File):
                    target = Path(f"{top}/{node}{file.path}")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.content)


def rows(place: Path, home: Path) -> Iterator[tuple[str, tuple[float, float]]]:
    """What is measured, each with its seconds of the wall and of processors."""
    base = git(place, "rev-parse", "HEAD")
    last = one_group_changed(place)
    first = git(place, "rev-parse", f"{last}~1")
    for revision in (base, first, last):
        with fleet(place, revision) as subject:
            _ = subject.checked, subject.mentions

    def publish(revision: str) -> Callable[[], PublishOutcome]:
        def work() -> PublishOutcome:
            opened = Repository.open(place)
            cache = open_cache(opened, os.geteuid())
            publisher = Publisher(
                opened, {**os.environ, **_IDENTITY}, REF, cache, date(2026, 11, 22), WORKERS
            )
            with fleet(place, revision) as subject:
                return publisher.publish(subject, PublishRequest(tuple(subject), Scope.ALL))

        return work

    def everything() -> None:
        with fleet(place, last) as subject:
            plain(subject, home / "plain")

    yield "everything, rendered and written plainly", taken(everything)
    yield "a ref, first", taken(publish(first))
    yield "a ref, again", taken(publish(first))
    yield "a ref, one group changed", taken(publish(last))
    print(git(place, "diff", "--shortstat", f"{REF}~1", REF))


def main() -> None:
    """Print seconds, and ratios to writing everything."""
    home = Path(tempfile.mkdtemp(prefix="gitcfg-bench-"))
    try:
        floor = 0.0
        for name, (wall, processor) in rows(copied(sys.argv[1] if sys.argv[1:] else None, home), home):
            floor = floor or processor
            print(f"{name:<44}{wall:8.2f} s{processor:8.2f} s CPU{processor / floor:8.2f} x")
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
