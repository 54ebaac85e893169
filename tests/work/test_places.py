"""Wherever a repository is and whoever may write there: the same answers, and nothing is said of caches."""

import ctypes
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gitcfg.cli.main import run
from gitcfg.compile.fleet import compile_tree
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from tests.compile.fleets import TODAY
from tests.work.pools import OPTIONS, git
from tests.work.processes import Told, ended, forked

_VERSION = 0x20080522  # of the system call's format
_OVERRIDE, _SEARCH = 1 << 1, 1 << 2  # the rights to write and to read whatever the modes of files say

FILES = repository(replace(OPTIONS, nodes=12, mistakes=("GC201", "GC301")))
NODE = compile_tree(DictTree(FILES), TODAY).names[0]
COMMANDS = (
    ("check", "-o", "json", "--no-parsers"),
    ("check", "--no-parsers"),
    ("render", NODE),
    ("explain", NODE),
    ("render", "--all", "--params", "-o", "json"),
)

Answers = list[Told]


def ordinary() -> None:
    """Give up what root may beyond others. OSError: that cannot be given up."""
    system = ctypes.CDLL(None, use_errno=True)
    head = ctypes.create_string_buffer(struct.pack("Ii", _VERSION, 0))
    sets = ctypes.create_string_buffer(24)
    if system.capget(head, sets):
        raise OSError(ctypes.get_errno(), "capget")
    effective, *others = struct.unpack("6I", sets.raw)
    left = struct.pack("6I", effective & ~(_OVERRIDE | _SEARCH), *others)
    if system.capset(head, ctypes.create_string_buffer(left, 24)):
        raise OSError(ctypes.get_errno(), "capset")


class Asker:
    """Asks gitcfg, in processes that may do no more than others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def told(self, repository: Path, *words: str) -> Told:
        """What a command says of a repository."""
        where = ["-C", str(repository), "--today", TODAY.isoformat()]
        return ended(forked([*where, *words], self._folder, ordinary), self._folder)

    def all(self, repository: Path, *more: str, commands: tuple[tuple[str, ...], ...] = COMMANDS) -> Answers:
        """The same of many, twice over: what is said first may be kept for the second time."""
        return [self.told(repository, *words, *more) for _ in range(2) for words in commands]


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Asker:
    folder = tmp_path_factory.mktemp("asker")
    write(folder / "first")
    for words in COMMANDS:  # here, so that what is forked need not import anything
        run(["-C", str(folder / "first"), *words])
    return Asker(folder)


def write(folder: Path) -> None:
    """The repository's files."""
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A repository of two commits."""
    folder = tmp_path / "pool"
    write(folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "two")
    return folder


@pytest.fixture
def expected(pool: Path, asker: Asker) -> Answers:
    """What is said where everything may be kept; which it is."""
    found = asker.all(pool)
    assert (pool / ".git/gitcfg").is_dir()
    assert found[: len(COMMANDS)] == found[len(COMMANDS) :]
    assert [code for code, _, _ in found[:2]] == [1, 1]
    return found


@pytest.fixture
def sealed() -> Iterator[Callable[[Path], None]]:
    """Makes folders in which nobody may write; afterwards they can be removed again."""
    done: list[Path] = []

    def seal(folder: Path) -> None:
        for place in (folder, *folder.rglob("*")):
            if place.is_dir():
                done.append(place)
                place.chmod(0o555)
            else:
                place.chmod(0o444)

    if os.geteuid() == 0 and not _may_be_given_up():
        pytest.skip("root may write everywhere, and cannot give that up here")
    yield seal
    for place in done:
        place.chmod(0o755)


def _may_be_given_up() -> bool:
    process = os.fork()
    if process == 0:
        try:
            ordinary()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(process, 0)[1] == 0


def without_commit(found: Answers, folder: Path) -> Answers:
    """A commit is named in JSON; a work tree has none."""
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    )
    return [(code, said.replace(f'"{head.stdout.strip()}"', "null"), more) for code, said, more in found]


def test_a_read_only_folder(
    asker: Asker, pool: Path, expected: Answers, sealed: Callable[[Path], None], tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "pool", "other")
    other = tmp_path / "other"
    sealed(other)
    assert asker.all(other) == expected
    assert without_commit(asker.all(other, "--at", "HEAD"), other) == expected
    assert not (other / ".git/gitcfg").exists()
    diff = ("diff", "HEAD~1", "HEAD"), ("log", NODE), ("check", "--staged", "--no-parsers")
    assert asker.all(other, commands=diff) == asker.all(pool, commands=diff)
    assert asker.told(other, "render", "--all", "--out", str(tmp_path / "out"))[0] == 1
    assert (tmp_path / "out" / NODE).is_dir()


def test_a_read_only_cache(
    asker: Asker, pool: Path, expected: Answers, sealed: Callable[[Path], None]
) -> None:
    """What is kept is used, although it cannot even be told when."""
    sealed(pool / ".git/gitcfg")
    before = sorted(found.name for found in (pool / ".git/gitcfg").iterdir())
    assert asker.all(pool) == expected
    (pool / "groups/new.yaml").write_text("{}\n")
    assert asker.all(pool, commands=COMMANDS[:1])[0][1].count("GC502") > expected[0][1].count("GC502")
    assert sorted(found.name for found in (pool / ".git/gitcfg").iterdir()) == before


def test_a_bare_repository(asker: Asker, pool: Path, expected: Answers, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "pool", "bare.git")
    bare = tmp_path / "bare.git"
    assert without_commit(asker.all(bare), bare) == expected
    assert (bare / "gitcfg").is_dir()


def test_a_bare_repository_without_a_commit(asker: Asker, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    for code, stdout, stderr in asker.all(tmp_path / "bare.git"):
        assert (code, stdout) == (2, "")
        assert stderr.startswith("error: There is no revision HEAD.")


def test_an_unborn_branch(asker: Asker, pool: Path, expected: Answers, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "pool", "other")
    other = tmp_path / "other"
    git(other, "checkout", "--quiet", "--orphan", "unborn")
    assert asker.all(other) == expected
    staged = asker.all(other, "--staged", commands=COMMANDS[:2])
    assert staged == [*expected[:2], *expected[:2]]


def test_a_linked_work_tree(asker: Asker, pool: Path, expected: Answers, tmp_path: Path) -> None:
    git(pool, "worktree", "add", "--quiet", "../linked")
    linked = tmp_path / "linked"
    kept = {found.name for found in (pool / ".git/gitcfg").iterdir()}
    assert asker.all(linked) == expected
    assert {found.name for found in (pool / ".git/gitcfg").iterdir()} == kept
    git(pool, "worktree", "remove", "--force", "../linked")
    assert asker.all(pool) == expected


def test_no_git(asker: Asker, expected: Answers, pool: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    pool.rename(plain)
    (plain / ".git").rename(tmp_path / "git")
    assert asker.all(plain) == expected
    assert sorted(os.listdir(plain)) == sorted({path.partition("/")[0] for path in FILES})


def test_a_folder_inside_of_a_git_repository(asker: Asker, expected: Answers, tmp_path: Path) -> None:
    top = tmp_path / "top"
    write(top / "below")
    git(top, "init", "--quiet")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "one")
    assert asker.all(top / "below") == expected
    assert without_commit(asker.all(top / "below", "--at", "HEAD"), top) == expected
    assert (top / ".git/gitcfg").is_dir()


def test_another_users_cache_is_not_believed(asker: Asker, pool: Path, expected: Answers) -> None:
    if os.geteuid():
        pytest.skip("only root can give files to somebody else")
    for place in (pool / ".git/gitcfg", *(pool / ".git/gitcfg").iterdir()):
        os.chown(place, 65534, 65534)
    assert asker.all(pool) == expected
    assert {place.stat().st_uid for place in (pool / ".git/gitcfg").iterdir()} == {65534}
