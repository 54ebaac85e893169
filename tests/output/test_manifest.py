"""A manifest and a journal that are not what gitcfg wrote: never believed, and nothing is lost by it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.model import GitcfgError
from gitcfg.output import manifest
from gitcfg.output import manifest as journal
from gitcfg.output import manifest as record
from gitcfg.output.folder import FolderChanges
from gitcfg.output.manifest import Record, StateFolder, Trace, encode_record, open_manifest, write_manifest
from tests.output.sources import held, run, times

SAID = {"n1": {"/etc/a": "a\n", "/etc/b": "b\n"}, "n2": {"/etc/a": "a\n"}}
FEWER = {"n1": {"/etc/a": "new\n"}}

Damage = Callable[[Path], None]


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])


def halved(file: Path) -> None:
    """Cut behind a whole line."""
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def garbled(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def newer(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"manifest/1", b"manifest/2"))


def foreign(file: Path) -> None:
    file.write_text("all: build\n\techo done\n")


def binary(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 50)


def linked(file: Path) -> None:
    file.rename(file.parent.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent.parent / "elsewhere")


def piped(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGES = [truncated, halved, emptied, garbled, newer, foreign, binary, linked, piped]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_manifest_that_is_not_whole_is_not_believed(tmp_path: Path, damage: Damage) -> None:
    top = tmp_path / "out"
    run(top, SAID)
    damage(top / ".gitcfg/manifest")
    before = times(top / "n2")
    outcome = run(top, FEWER)
    assert outcome.changes == FolderChanges(written=1)
    assert len(outcome.doubts) == 1
    assert str(top / ".gitcfg/manifest") in outcome.doubts[0]
    assert times(top / "n2") == before
    assert held(top)["n1/etc/b"] == "0644 b\n"
    again = run(top, FEWER)
    assert (again.changes, again.doubts) == (FolderChanges(same=1), ())


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_it_is_made_again_by_comparing(tmp_path: Path, damage: Damage) -> None:
    top = tmp_path / "out"
    run(top, SAID)
    damage(top / ".gitcfg/manifest")
    before = times(top / "n1")
    assert run(top, SAID).changes == FolderChanges(same=3)
    assert times(top / "n1") == before
    assert run(top, FEWER).changes == FolderChanges(written=1, removed=2)


def test_a_manifest_that_is_gone_is_made_again_by_comparing(tmp_path: Path) -> None:
    run(tmp_path, SAID)
    (tmp_path / ".gitcfg/manifest").unlink()
    assert run(tmp_path, SAID).changes == FolderChanges(same=3)
    assert run(tmp_path, FEWER).changes == FolderChanges(written=1, removed=2)


def test_a_copy_of_a_folder_is_as_good(tmp_path: Path) -> None:
    run(tmp_path / "one", SAID)
    for place in (tmp_path / "one").rglob("*"):
        copy = tmp_path / "two" / place.relative_to(tmp_path / "one")
        copy.mkdir(parents=True) if place.is_dir() else copy.write_bytes(place.read_bytes())
    assert run(tmp_path / "two", SAID).changes == FolderChanges(same=3)
    assert run(tmp_path / "two", FEWER).changes == FolderChanges(written=1, removed=2)


@given(data=st.data())
def test_no_changed_byte_goes_unnoticed(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("manifest") / "manifest"
    whole = WHOLE
    at = data.draw(st.integers(0, len(whole) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "drop"]))
    changed = {
        "flip": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :],
        "cut": whole[:at],
        "insert": whole[:at] + b"x" + whole[at:],
        "drop": whole[:at] + whole[at + 1 :],
    }[kind]
    file.write_bytes(changed)
    with open_manifest(file) as known:
        assert list(known.lines) == []
        assert known.problem


def _whole(folder: Path) -> bytes:
    state = StateFolder(folder)
    state.spare.mkdir(parents=True)
    with open_manifest(state.manifest) as known, write_manifest(state, known) as new:
        for number in range(3):
            new.add(encode_record(Record(f"n{number}", "m", (Trace("/etc/é", "0644", "0" * 64, 1, 2),))))
    return state.manifest.read_bytes()


@pytest.fixture(scope="module", autouse=True)
def whole_manifest(tmp_path_factory: pytest.TempPathFactory) -> None:
    global WHOLE
    WHOLE = _whole(tmp_path_factory.mktemp("whole"))


WHOLE = b""


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(WHOLE)
    with open_manifest(tmp_path / "m") as known:
        assert len(list(known.lines)) == 3
        assert (known.problem, len(known.seal)) == ("", 64)


@given(records=st.lists(st.tuples(st.sampled_from(["n1", "n2"]), st.text(max_size=5)), max_size=4))
def test_a_journal_survives_half_lines(
    records: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("journal") / "journal"
    for node, path in records:
        said = journal.Journal(place)
        said.write(Record(node, "", (Trace("/" + path, "0644", "0" * 64),)))
        said.close()
        with place.open("ab") as file:  # another worker is killed in the middle of its line
            file.write(b'\n["n1","",[["/etc/x","06')
    found = journal.read_journal(place)
    assert {(node, trace.path) for node, known in found.items() for trace in known.files} == {
        (node, "/" + path) for node, path in records
    }


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\xfe\n{}\n[1]\n", b'["n1","",[["/etc/a"]]]\n'])
def test_a_foreign_journal_does_no_harm(tmp_path: Path, data: bytes) -> None:
    run(tmp_path, SAID)
    (tmp_path / ".gitcfg/journal").write_bytes(data)
    assert run(tmp_path, SAID).changes == FolderChanges(same=3)
    assert not (tmp_path / ".gitcfg/journal").exists()


@pytest.mark.parametrize("path", ["/../mine", "/../../mine", "../mine", "/n9/../../mine", "//mine", ""])
def test_no_claim_leads_out_of_a_node_s_folder(tmp_path: Path, path: str) -> None:
    top = tmp_path / "out"
    run(top, SAID)
    for place in (tmp_path / "mine", top / "mine"):
        place.write_text("a\n")
    (trace,) = [trace for trace in _traces(top) if trace.path == "/etc/b"]
    claim = Record("n1", "", (Trace(path, "0644", trace.digest),))
    (top / ".gitcfg/journal").write_bytes(encode_record(claim))
    run(top, {"n1": {}})
    assert (tmp_path / "mine").exists()
    assert (top / "mine").exists()


def _traces(top: Path) -> list[Trace]:
    with manifest.open_manifest(top / ".gitcfg/manifest") as known:
        return [trace for text in known.lines for trace in record.decode_record(text).files]


def test_a_run_that_failed_leaves_what_the_next_one_needs(tmp_path: Path) -> None:
    run(tmp_path, SAID)

    class Broken(dict[str, dict[str, str]]):
        def __getitem__(self, node: str) -> dict[str, str]:
            if node == "n2":
                raise GitcfgError("It broke.")
            return {"/etc/new": "new"}

    with pytest.raises(GitcfgError, match=r"It broke\."):
        run(tmp_path, Broken(SAID))
    assert held(tmp_path)["n1/etc/new"] == "0644 new"
    assert (tmp_path / ".gitcfg/journal").exists()
    assert run(tmp_path, {"n3": {}}).changes == FolderChanges(removed=2)
    assert held(tmp_path) == {"n3/": ""}
