"""Several files are written or none is: after errors at every point, and after kill -9."""

import os
import signal
import subprocess
import sys
import time
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from random import Random

import pytest

from gitcfg.edit import transaction as journal
from gitcfg.edit.transaction import FileChange
from gitcfg.model import GitcfgError

OLD = {"a/x.yaml": b"old x\n", "b.yaml": b"old b\n", "gone.yaml": b"old\n", "new/n.yaml": None}
NEW = {"a/x.yaml": b"new x\n", "b.yaml": b"new b\n", "gone.yaml": None, "new/n.yaml": b"new\n"}


def change(start: dict[str, bytes | None], end: dict[str, bytes | None]) -> dict[str, FileChange]:
    return {path: FileChange(start[path], end[path]) for path in start}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a").mkdir()
    for path, text in OLD.items():
        if text is not None:
            (tmp_path / path).write_bytes(text)
    return tmp_path


def held(root: Path) -> dict[str, bytes | None]:
    return {path: (root / path).read_bytes() if (root / path).exists() else None for path in OLD}


class Killed(BaseException):
    pass


def test_whatever_fails_all_is_written_or_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "b.yaml").chmod(0o600)
    seen = set()
    for last in range(40):
        calls = [0]
        with monkeypatch.context() as patch:
            for name in ("replace", "fsync", "unlink"):
                patch.setattr(os, name, counted(getattr(os, name), calls, last))
            try:
                journal.write_files(root, root / ".git", change(OLD, NEW))
                ended = True
            except Killed:
                ended = False
        journal.finish(root, root / ".git")
        seen.add(held(root) == NEW)
        assert held(root) in (OLD, NEW)
        assert not (root / ".git/gitcfg-edit").exists()
        if ended:
            break
        if held(root) == NEW:
            journal.write_files(root, root / ".git", change(NEW, OLD))
    assert ended
    assert seen == {True, False}
    assert (root / "b.yaml").stat().st_mode & 0o777 == 0o600


def counted(real, calls: list[int], last: int):  # type: ignore[no-untyped-def]
    def call(*words, **more):  # type: ignore[no-untyped-def]
        calls[0] += 1
        if calls[0] > last:
            raise Killed
        return real(*words, **more)

    return call


@pytest.mark.parametrize("last", range(1, 4))
def test_on_a_full_disk_nothing_is_changed(root: Path, monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    calls, replace = [0], os.replace

    def full(*words: Path) -> None:
        calls[0] += 1
        if calls[0] == last:
            raise OSError(28, "No space left on device")
        replace(*words)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            journal.write_files(root, root / ".git", change(OLD, NEW))
    assert held(root) == OLD
    assert sorted(path.name for path in (root / ".git").iterdir()) == []


def test_only_one_edits_at_a_time(root: Path) -> None:
    with journal.lock(root / ".git"):
        other = (root / ".git/gitcfg-edit.lock").open()
        with pytest.raises(BlockingIOError):
            flock(other, LOCK_EX | LOCK_NB)
    flock(other, LOCK_EX | LOCK_NB)
    other.close()


PROGRAM = """
import sys
from pathlib import Path
from gitcfg.edit import transaction as journal
from tests.edit.test_journal import NEW, OLD, change
root = Path(sys.argv[1])
print("begun", flush=True)
while True:
    with journal.lock(root / ".git"):
        journal.write_files(root, root / ".git", change(OLD, NEW))
        journal.write_files(root, root / ".git", change(NEW, OLD))
"""


def test_after_kill_9_the_next_one_finds_old_or_new(root: Path) -> None:
    rng = Random(9)
    half = 0
    for _ in range(12):
        words = [sys.executable, "-c", PROGRAM, str(root)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.03))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        half += held(root) not in (OLD, NEW)
        with journal.lock(root / ".git"):
            journal.finish(root, root / ".git")
            assert held(root) in (OLD, NEW)
            if held(root) == NEW:
                journal.write_files(root, root / ".git", change(NEW, OLD))
    assert held(root) == OLD


def test_what_somebody_has_changed_meanwhile_stays(root: Path) -> None:
    (root / "b.yaml").write_bytes(b"theirs\n")
    with pytest.raises(GitcfgError, match="changed in the meantime") as refused:
        journal.write_files(root, root / ".git", change(OLD, NEW))
    assert refused.value.code == 4
    assert held(root) == {**OLD, "b.yaml": b"theirs\n"}


def test_a_journal_is_not_finished_over_what_somebody_has_written_since(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(journal, "_write_changes", lambda *words: None)
        journal.write_files(root, root / ".git", change(OLD, NEW))
    (root / "b.yaml").write_bytes(b"theirs\n")
    with pytest.raises(GitcfgError, match="changed in the meantime") as refused:
        journal.finish(root, root / ".git")
    assert "gitcfg-edit" in refused.value.hints[0]
    assert held(root) == {**OLD, "b.yaml": b"theirs\n"}


def test_nothing_is_written_through_links(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to(root / "a")
    with pytest.raises(GitcfgError, match="symbolic link"):
        journal.write_files(root, root / ".git", {"link/x.yaml": FileChange(OLD["a/x.yaml"], b"new\n")})
    assert held(root) == OLD


def test_a_folder_that_cannot_be_written_is_told(root: Path) -> None:
    (root / ".git").rmdir()
    with pytest.raises(OSError), journal.lock(root / ".git"):  # noqa: PT011
        pass
