"""Files that editors read are written whole, only where they differ, and never through links."""

import os
from pathlib import Path

import pytest

from gitcfg.editor.settings import TargetFile, find_stale, write_files
from gitcfg.model import GitcfgError


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    files = [TargetFile(tmp_path / "a/b/one", b"1"), TargetFile(tmp_path / "two", b"2")]
    assert find_stale(files) == tuple(files)
    write_files(files)
    assert find_stale(files) == ()
    (tmp_path / "two").write_bytes(b"3")
    assert find_stale(files) == (files[1],)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "one", "two"]


def test_the_mode_stays(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"old")
    place.chmod(0o640)
    write_files([TargetFile(place, b"new", b"old")])
    assert place.read_bytes() == b"new"
    assert place.stat().st_mode & 0o777 == 0o640


def test_what_somebody_else_wrote_meanwhile_stays(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"theirs")
    with pytest.raises(GitcfgError, match="changed in the meantime"):
        write_files([TargetFile(place, b"ours", b"old")])
    assert place.read_bytes() == b"theirs"


@pytest.mark.parametrize("name", ["link/x", "x"])
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    (tmp_path / "x").symlink_to("elsewhere/x")
    for act in (find_stale, write_files):
        with pytest.raises(GitcfgError) as refused:
            act([TargetFile(tmp_path / name, b"1")])
        assert refused.value.code == 4
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_disk_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_files([TargetFile(place, b"new")])
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert place.read_bytes() == b"old"
