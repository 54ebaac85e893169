"""Two who change a secret at once, and one who is killed in the middle: both files fit, or it is told."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gitcfg.edit import transaction as journal
from tests.cli.secretpool import ALICE, CANARY, Pool

REKEY = ("secret", "rekey", "pool", "--add", "carol.pub")
ROTATE = ("secret", "rotate", "pool")


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path).begun()


def killed_after(files: int) -> Callable[[], None]:
    """Let a process be killed when it has written so many files of an edit."""

    def begin() -> None:
        put, left = journal._write, iter(range(files, -1, -1))

        def last(place: Path, text: bytes | None) -> None:
            if not next(left):
                os.kill(os.getpid(), signal.SIGKILL)
            put(place, text)

        journal._write = last

    return begin


def test_of_those_who_rotate_at_once_each_has_a_version(pool: Pool) -> None:
    started = [pool.start(*ROTATE) for _ in range(4)]
    done = [pool.ended(one) for one in started]
    assert [one.code for one in done] == [0] * 4
    versions = sorted(line for one in done for line in one.error.splitlines() if "has version" in line)
    assert versions == [f"pool now has version {number}." for number in (2, 3, 4, 5)]
    assert "version: 5\n" in (pool.root / "secrets/pool.yaml").read_text()
    assert len(pool.content()) == 32


def test_who_rekeys_while_others_rotate_loses_nothing(pool: Pool) -> None:
    started = [pool.start(*words) for words in (ROTATE, REKEY, ROTATE)]
    assert [pool.ended(one).code for one in started] == [0] * 3
    assert "version: 3\n" in (pool.root / "secrets/pool.yaml").read_text()
    assert "can read it  alice (ssh-ed25519)\n               bob" in pool.run("secret", "who", "pool").out
    assert "Nothing is wrong" in pool.run("check").error
    assert pool.content() != CANARY


@pytest.mark.parametrize("files", [0, 1])
@pytest.mark.parametrize("words", [REKEY, ROTATE], ids=["rekey", "rotate"])
def test_what_was_killed_is_told_and_then_finished(pool: Pool, words: tuple[str, ...], files: int) -> None:
    assert pool.ended(pool.start(*words, before=killed_after(files))).code == -signal.SIGKILL
    told = pool.run("secret", "list")
    assert told.code == 0
    assert "warning: An edit was interrupted, so files may be incomplete." in told.error
    if files and words is REKEY:
        assert "error[GC210]" in pool.run("check").out
    done = pool.run("secret", "rekey", "pool")
    assert done.code == 0
    assert "finished an interrupted edit of secrets/pool.yaml" in done.error
    assert "finished an interrupted edit of secrets/pool.age" in done.error
    assert "Nothing is wrong" in pool.run("check").error
    assert "interrupted" not in pool.run("secret", "list").error
    version, readers = (2, 2) if words is ROTATE else (1, 3)
    assert f"version {version}  {readers} recipients" in pool.run("secret", "list").out
    assert (pool.content("--identity", pool.key("a", ALICE)) == CANARY) == (words is REKEY)
    assert pool.holding(CANARY) == []


def test_a_full_folder_leaves_both_as_they_were(pool: Pool) -> None:
    def begin() -> None:
        put, left = journal._write, iter([True, False, True, True])

        def failing(place: Path, text: bytes | None) -> None:
            if not next(left):
                raise OSError(28, "No space left on device", str(place))
            put(place, text)

        journal._write = failing

    done = pool.ended(pool.start(*ROTATE, before=begin))
    assert done.code == 2
    assert "No space left on device" in done.error
    assert "version 1  2 recipients" in pool.run("secret", "list").out
    assert pool.content() == CANARY
