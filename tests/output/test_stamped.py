"""Files with stamps: what is written, what is removed, and what nobody but its author may change."""

import os
from pathlib import Path

import pytest

from gitcfg.model import GitcfgError
from gitcfg.output.stamps import Foreign, StampedChanges, add_stamp, is_ours, update_stamped_folder

OWN = ("", "features")
FILES = {
    "README.md": add_stamp("# Top\n"),
    "features/A.md": add_stamp("# A\n"),
    "features/B.md": add_stamp("# B\n"),
}


def brought(top: Path, files: dict[str, bytes] = FILES, foreign: Foreign = Foreign.REFUSE) -> StampedChanges:
    return update_stamped_folder(top, files, OWN, foreign)


def held(top: Path) -> dict[str, bytes]:
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


@pytest.mark.parametrize("before", ["", "<!DOCTYPE html>\n"])
def test_a_stamp_is_of_what_stands_below_it(before: str) -> None:
    content = add_stamp("some text\n", before)
    assert content.startswith(before.encode() + b"<!-- Made by gitcfg export docs;")
    assert is_ours(content)
    assert is_ours(content.replace(b"\n", b"\r\n"))
    assert not is_ours(content + b"x")
    assert not is_ours(content.replace(b"some", b"same"))
    assert not is_ours(b"some text\n")


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    top = tmp_path / "deep" / "site"
    assert brought(top) == StampedChanges(3, 0, 0, ())
    assert held(top) == FILES
    times = {path: path.stat().st_mtime_ns for path in top.rglob("*.md")}
    changed = {**FILES, "features/A.md": add_stamp("# Other\n")}
    assert brought(top, changed) == StampedChanges(1, 0, 2, ())
    assert held(top) == changed
    rest = [path for path in times if path.name != "A.md"]
    assert all(path.stat().st_mtime_ns == times[path] for path in rest)


def test_what_is_not_meant_any_more_goes_with_its_folder(tmp_path: Path) -> None:
    brought(tmp_path)
    (tmp_path / "mine.md").write_text("mine\n")
    assert brought(tmp_path, {"README.md": FILES["README.md"]}) == StampedChanges(0, 2, 1, ())
    assert held(tmp_path) == {"README.md": FILES["README.md"], "mine.md": b"mine\n"}
    assert not (tmp_path / "features").exists()


def test_what_somebody_changed_stays(tmp_path: Path) -> None:
    brought(tmp_path)
    place = tmp_path / "features/A.md"
    place.write_bytes(place.read_bytes() + b"more\n")
    only = {"README.md": FILES["README.md"]}
    assert brought(tmp_path, only) == StampedChanges(0, 1, 1, (place,))
    assert place.read_bytes().endswith(b"more\n")


def test_a_file_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "features").mkdir()
    (tmp_path / "features/B.md").write_text("mine\n")
    before = held(tmp_path)
    with pytest.raises(GitcfgError, match=r"B\.md was changed, or not written by gitcfg") as error:
        brought(tmp_path)
    assert error.value.code == 4
    assert held(tmp_path) == before  # nothing at all
    brought(tmp_path, foreign=Foreign.REPLACE)
    assert held(tmp_path) == FILES


@pytest.mark.parametrize("link", ["features", "README.md"])
def test_nothing_is_written_through_links(tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "A.md").write_bytes(add_stamp("old\n"))
    top = tmp_path / "top"
    top.mkdir()
    (top / link).symlink_to(elsewhere if link == "features" else elsewhere / "A.md")
    for foreign in Foreign:
        with pytest.raises(GitcfgError, match="a symbolic link"):
            brought(top, foreign=foreign)
    assert held(elsewhere) == {"A.md": add_stamp("old\n")}
    assert list(top.iterdir()) == [top / link]


def test_line_ends_of_another_system_are_no_change(tmp_path: Path) -> None:
    brought(tmp_path)
    place = tmp_path / "README.md"
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    assert brought(tmp_path) == StampedChanges(0, 0, 3, ())


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".gitcfg-new-1").write_text("half")
    brought(tmp_path)
    assert held(tmp_path) == FILES


def test_only_one_writes_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr("gitcfg.output.manifest._TRIES", 1)
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(GitcfgError, match="Another gitcfg is writing"):
        brought(tmp_path)
    os.close(other)
    brought(tmp_path)
