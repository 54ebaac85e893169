"""An output folder after one run and after the next: what is written, left alone, removed, refused."""

import os
from pathlib import Path

import pytest

from gitcfg.model import GitcfgError
from gitcfg.output.folder import FolderChanges, Stale
from tests.output.sources import Told, age, held, run, times

ONE = {
    "n1": {"/etc/a": "a\n", "/etc/c.d/b 0600": "b\n"},
    "n2": {"/etc/a": "a\n"},
    "n3": {},
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_a_new_folder_holds_what_is_said(top: Path) -> None:
    outcome = run(top, ONE)
    assert outcome.changes == FolderChanges(written=3)
    assert outcome.doubts == ()
    assert held(top) == {
        "n1/": "",
        "n1/etc/": "",
        "n1/etc/a": "0644 a\n",
        "n1/etc/c.d/": "",
        "n1/etc/c.d/b": "0600 b\n",
        "n2/": "",
        "n2/etc/": "",
        "n2/etc/a": "0644 a\n",
        "n3/": "",
    }
    assert sorted(os.listdir(top / ".gitcfg")) == ["lock", "manifest", "new"]
    assert os.listdir(top / ".gitcfg/new") == []


@pytest.mark.parametrize("made", [{}, {"n1": "x", "n2": "y", "n3": "z"}])
def test_a_second_run_changes_nothing(top: Path, made: dict[str, str]) -> None:
    run(top, Told(ONE, made))
    before = times(top)
    assert run(top, Told(ONE, made)).changes == FolderChanges(same=3)
    assert times(top) == before


def test_what_is_made_from_the_same_is_not_even_rendered(top: Path) -> None:
    made = {"n1": "x", "n2": "y", "n3": "z"}
    run(top, Told(ONE, made))
    age(top)
    again = Told(ONE, made)
    assert run(top, again).changes == FolderChanges(same=3)
    assert again.asked == []
    changed = Told({**ONE, "n2": {"/etc/a": "new\n"}}, {**made, "n2": "other"})
    assert run(top, changed).changes == FolderChanges(same=2, written=1)
    assert changed.asked == ["n2"]
    (top / "n3").rmdir()
    age(top)
    assert run(top, again).changes == FolderChanges(same=2, written=1)
    assert again.asked == ["n2", "n3"]


def test_only_what_changed_is_written(top: Path) -> None:
    run(top, ONE)
    before = times(top)
    after = {**ONE, "n1": {"/etc/a": "new\n", "/etc/c.d/b 0600": "b\n"}}
    assert run(top, after).changes == FolderChanges(same=2, written=1)
    changed = {name for name, time in times(top).items() if before.get(name) != time}
    own = {str(top / ".gitcfg"), str(top / ".gitcfg/manifest")}
    assert changed == {str(top / "n1/etc"), str(top / "n1/etc/a"), *own}


def test_a_changed_mode_is_written(top: Path) -> None:
    run(top, ONE)
    assert run(top, {**ONE, "n2": {"/etc/a 0755": "a\n"}}).changes == FolderChanges(same=2, written=1)
    assert held(top)["n2/etc/a"] == "0755 a\n"


def test_what_is_no_longer_meant_is_removed_with_the_folders_it_leaves_empty(top: Path) -> None:
    run(top, ONE)
    assert run(top, {"n1": {"/etc/a": "a\n"}}).changes == FolderChanges(same=1, removed=2)
    assert held(top) == {"n1/": "", "n1/etc/": "", "n1/etc/a": "0644 a\n"}


def test_what_people_put_there_stays(top: Path) -> None:
    run(top, ONE)
    for place in ("README", "n2/etc/mine", "mine/etc/x"):
        (top / place).parent.mkdir(parents=True, exist_ok=True)
        (top / place).write_text("mine")
    assert run(top, {"n1": {}}).changes == FolderChanges(removed=3)
    assert held(top) == {
        "README": "0644 mine",
        "mine/": "",
        "mine/etc/": "",
        "mine/etc/x": "0644 mine",
        "n1/": "",
        "n2/": "",
        "n2/etc/": "",
        "n2/etc/mine": "0644 mine",
    }


@pytest.mark.parametrize("text", ["z\n", "longer\n", ""])
def test_what_somebody_edited_is_put_right(top: Path, text: str) -> None:
    run(top, Told(ONE, {"n1": "x"}))
    (top / "n1/etc/a").write_text(text)
    (top / "n1/etc/c.d/b").chmod(0o644)
    assert run(top, Told(ONE, {"n1": "x"})).changes == FolderChanges(same=1, written=2)
    assert held(top)["n1/etc/a"] == "0644 a\n"
    assert held(top)["n1/etc/c.d/b"] == "0600 b\n"


def test_what_somebody_removed_is_there_again(top: Path) -> None:
    run(top, Told(ONE, {"n1": "x"}))
    (top / "n1/etc/a").unlink()
    assert run(top, Told(ONE, {"n1": "x"})).changes == FolderChanges(same=2, written=1)


def test_an_edited_file_that_is_no_longer_meant_stays_and_is_told_every_time(top: Path) -> None:
    run(top, ONE)
    (top / "n1/etc/a").write_text("mine\n")
    afters: list[dict[str, dict[str, str]]]
    afters = [{"n1": {"/etc/c.d/b 0600": "b\n"}}, {"n1": {}}, {"n9": {}}, {"n1": {}}]
    for after in afters:
        assert run(top, after).changes.edited == (("n1", "/etc/a"),)
        assert held(top)["n1/etc/a"] == "0644 mine\n"
    (top / "n1/etc/a").write_text("a\n")
    assert run(top, {"n1": {}}).changes == FolderChanges(removed=1)
    assert run(top, {"n1": {}}).changes == FolderChanges()


def test_some_nodes_leave_the_others_alone(top: Path) -> None:
    run(top, ONE)
    after = {"n1": {"/etc/a": "new\n"}, "n2": {}}
    assert run(top, after, nodes=["n1"]).changes == FolderChanges(written=1, removed=1)
    assert held(top)["n2/etc/a"] == "0644 a\n"
    assert run(top, after).changes == FolderChanges(same=1, removed=1)
    assert held(top) == {"n1/": "", "n1/etc/": "", "n1/etc/a": "0644 new\n", "n2/": ""}


def test_with_errors_nothing_is_removed_but_nothing_forgotten(top: Path) -> None:
    run(top, ONE)
    assert run(top, {"n1": {}}, stale=Stale.KEEP).changes == FolderChanges(held=3)
    assert held(top)["n2/etc/a"] == "0644 a\n"
    assert run(top, {"n1": {}}).changes == FolderChanges(removed=3)
    assert held(top) == {"n1/": ""}


def test_what_cannot_be_made_now_stays_as_it_was(top: Path) -> None:
    made = {"n1": "x"}
    run(top, Told({"n1": {"/etc/a": "a", "/etc/b": "b"}}, made))
    age(top)
    fails = Told({"n1": {"/etc/a fails": "", "/etc/b": "b", "/etc/new fails": ""}}, {"n1": "y"})
    for _ in range(2):
        done = run(top, fails).changes
        assert done == FolderChanges(same=1, unmade=(("n1", "/etc/a"), ("n1", "/etc/new")))
        assert held(top)["n1/etc/a"] == "0644 a"
        age(top)
    assert fails.asked == ["n1", "n1"]
    assert run(top, Told({"n1": {"/etc/b": "b"}}, {"n1": "y"})).changes == FolderChanges(same=1, removed=1)


@pytest.mark.parametrize(
    ("before", "after"),
    [("/etc/x", "/etc/x/y"), ("/etc/x/y", "/etc/x"), ("/etc/x/y/z", "/etc/x"), ("/a", "/a/b/c/d")],
)
def test_a_file_becomes_a_folder_and_back(top: Path, before: str, after: str) -> None:
    run(top, {"n1": {before: "1"}})
    assert run(top, {"n1": {after: "2"}}).changes == FolderChanges(written=1, removed=1)
    assert (top / f"n1{after}").read_text() == "2"


def in_the_way(top: Path, outside: Path, what: str) -> str:
    """Put something where n1's folder /etc/c.d or its file /etc/a is."""
    place = top / ("n1/etc/a" if what.startswith("file") else "n1/etc/c.d")
    if place.is_dir():
        (place / "b").unlink()
        place.rmdir()
    else:
        place.unlink()
    kind = what.partition(" ")[2]
    if kind == "link":
        place.symlink_to(outside)
    elif kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_text("mine")
    return str(place)


@pytest.mark.parametrize("what", ["file link", "file folder", "file pipe", "folder link", "folder file"])
@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_in_the_way_is_told_and_stays_and_the_rest_is_written(
    top: Path, tmp_path: Path, what: str, workers: int
) -> None:
    made = {"n1": "x", "n2": "y"}
    run(top, Told(ONE, made))
    age(top)
    outside = tmp_path / "outside"
    outside.mkdir()
    place = Path(in_the_way(top, outside, what))
    assert len(run(top, Told(ONE, made), workers=workers).changes.blocked) == 1
    before = (place.lstat().st_mode, place.lstat().st_ino)
    after = {name: {path: text + "2" for path, text in files.items()} for name, files in ONE.items()}
    done = run(top, after, workers=workers).changes
    assert (done.written, len(done.blocked)) == (2, 1)
    ((node, reason),) = done.blocked
    assert node == "n1"
    assert reason.startswith("/etc/a is a" if what.startswith("file") else "/etc/c.d is a")
    assert (place.lstat().st_mode, place.lstat().st_ino) == before
    assert list(outside.iterdir()) == []
    assert (top / "n2/etc/a").read_text() == "a\n2"
    place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()
    assert run(top, after).changes == FolderChanges(same=2, written=1)


def test_a_node_s_own_folder_may_be_in_the_way(top: Path, tmp_path: Path) -> None:
    top.mkdir()
    (top / "n1").symlink_to(tmp_path)
    (top / "n3").write_text("mine")
    done = run(top, ONE).changes
    assert dict(done.blocked) == {
        "n1": " is a symbolic link, where a folder is needed",
        "n3": " is a file, where a folder is needed",
    }
    assert not (tmp_path / "etc").exists()


def test_a_stale_file_behind_a_link_is_not_removed(top: Path, tmp_path: Path) -> None:
    run(top, {"n1": {"/etc/a": "a"}})
    outside = tmp_path / "outside"
    (top / "n1/etc").rename(outside)
    (top / "n1/etc").symlink_to(outside)
    assert run(top, {"n1": {}}).changes.edited == (("n1", "/etc/a"),)
    assert (outside / "a").read_text() == "a"


def test_names_that_lead_elsewhere_are_left_out(top: Path, tmp_path: Path) -> None:
    said = {
        "..": {"/x": "1"},
        ".": {"/x": "1"},
        "a/b": {"/x": "1"},
        ".gitcfg": {"/x": "1"},
        "ok": {"/x": "1"},
    }
    assert run(top, said).changes == FolderChanges(written=1)
    assert held(top) == {"ok/": "", "ok/x": "0644 1"}
    assert sorted(os.listdir(tmp_path)) == ["out"]


def test_one_run_at_a_time(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.output.manifest._TRIES", 2)

    class Meanwhile(Told):
        def fingerprint(self, node: str) -> str:
            with pytest.raises(GitcfgError, match="Another gitcfg is writing to") as caught:
                run(top, ONE)
            assert caught.value.code == 4
            return ""

    assert run(top, Meanwhile(ONE)).changes == FolderChanges(written=3)
    assert run(top, ONE).changes == FolderChanges(same=3)


@pytest.mark.parametrize("place", ["", ".gitcfg", ".gitcfg/new"])
def test_a_file_in_place_of_the_folder_is_refused(top: Path, place: str) -> None:
    file = top / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine")
    with pytest.raises(GitcfgError, match="is not a folder"):
        run(top, ONE)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("place", [".gitcfg", ".gitcfg/new"])
def test_its_own_folder_is_reached_through_no_link(top: Path, tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    (top / place).parent.mkdir(parents=True)
    (top / place).symlink_to(outside)
    with pytest.raises(GitcfgError, match="is not a folder"):
        run(top, ONE)
    assert [found.name for found in outside.iterdir()] == ["mine"]


def test_the_folder_itself_may_be_a_link(top: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    top.symlink_to(tmp_path / "real")
    assert run(top, ONE).changes == FolderChanges(written=3)
    assert run(top, ONE).changes == FolderChanges(same=3)


def test_what_unfinished_runs_left_is_cleared_away(top: Path) -> None:
    run(top, ONE)
    (top / ".gitcfg/new/4711").write_text("half")
    run(top, ONE)
    assert os.listdir(top / ".gitcfg/new") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_one_folder_that_may_not_be_written_stops_nobody_else(top: Path) -> None:
    run(top, ONE)
    (top / "n1/etc").chmod(0o500)
    after = {name: {path: text + "2" for path, text in files.items()} for name, files in ONE.items()}
    done = run(top, after).changes
    assert done.blocked == (("n1", "/etc/a: Permission denied"),)
    assert (top / "n2/etc/a").read_text() == "a\n2"


def test_a_name_too_long_for_the_file_system_stops_nobody_else(top: Path) -> None:
    done = run(top, {"n1": {"/" + "x" * 300: "1"}, "n2": {"/x": "1"}}).changes
    assert (done.written, done.blocked) == (1, (("n1", f"/{'x' * 300}: File name too long"),))
