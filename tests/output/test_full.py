"""A disk that is full, or a file that may not grow: told, nothing half written, and the next run is right."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gitcfg.model import GitcfgError
from tests.output.sources import fresh, held, run

BEFORE = {f"n{number}": {"/etc/a": "1" * 9000} for number in range(20)}
AFTER = {f"n{number}": {"/etc/a": "2" * 9000, "/etc/b": "3" * 20_000} for number in range(10, 40)}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 640 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root only, and not in every container")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk(disk: Path, tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.output.folder.CHUNK", 4)
    top = disk / "out"
    run(top, BEFORE)
    with pytest.raises(GitcfgError) as caught:
        run(top, AFTER, workers=workers)
    assert caught.value.code == 2
    assert "No space left on device" in caught.value.message
    assert "Every file is complete" in caught.value.hints[0]
    found = {name: text[5:] for name, text in held(top).items() if not name.endswith("/")}
    assert set(found.values()) == {"1" * 9000, "2" * 9000, "3" * 20_000}
    assert os.listdir(top / ".gitcfg/new") == []
    smaller = {name: {"/etc/a": "4"} for name in AFTER}
    run(top, smaller, workers=workers)
    assert held(top) == fresh(tmp_path / "fresh", smaller)
    assert sorted(os.listdir(top / ".gitcfg")) == ["lock", "manifest", "new"]


def test_a_disk_that_is_full_from_the_beginning(disk: Path) -> None:
    run(disk / "out", {"n1": {"/a": "1"}})
    with (disk / "fill").open("wb", buffering=0) as fill, suppress(OSError):
        while True:
            fill.write(b"x" * 4096)
    with pytest.raises(GitcfgError, match="No space left on device"):
        run(disk / "out", {"n1": {"/a": "2"}})
    assert held(disk / "out")["n1/a"] == "0644 1"
    (disk / "fill").unlink()
    run(disk / "out", {"n2": {"/a": "2"}})
    assert held(disk / "out") == {"n2/": "", "n2/a": "0644 2"}


def test_a_file_that_may_not_grow_so_large(tmp_path: Path) -> None:
    run(tmp_path / "out", BEFORE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, hard))
    try:
        with pytest.raises(GitcfgError, match="File too large"):
            run(tmp_path / "out", AFTER)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run(tmp_path / "out", AFTER)
    assert held(tmp_path / "out") == fresh(tmp_path / "fresh", AFTER)
