"""What is kept of answers is checked, never simply believed, and nothing that goes wrong is told."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg import cache as module
from gitcfg.cache import FolderCache, file_parts, read_answer

USER = os.geteuid()


class Answer(msgspec.Struct, frozen=True):
    words: tuple[str, ...]


ANSWER = Answer(("a", "b"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "gitcfg"


@pytest.fixture
def cache(folder: Path) -> FolderCache:
    cache = FolderCache(folder, USER)
    cache.put("question", ANSWER)
    return cache


def file(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


def test_an_answer_is_kept(cache: FolderCache, folder: Path) -> None:
    assert cache.get("question", Answer) == ANSWER
    assert cache.get("another", Answer) is None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert file(folder).stat().st_mode & 0o777 == 0o600


def test_a_newer_answer_takes_the_place(cache: FolderCache, folder: Path) -> None:
    cache.put("question", Answer(("c",)))
    assert cache.get("question", Answer) == Answer(("c",))
    assert file(folder)


def garbled(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[-3] ^= 1
    place.write_bytes(data)


def truncated(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-1])


def emptied(place: Path) -> None:
    place.write_bytes(b"")


def of_another_version(place: Path) -> None:
    head, _, rest = place.read_bytes().partition(b"\n")
    other = b"8" if head.endswith(b"9") else b"9"
    place.write_bytes(head[:-1] + other + b"\n" + rest)


def with_another_question(place: Path) -> None:
    other = FolderCache(place.parent, USER)
    other.put("other", ANSWER)
    (found,) = (each for each in place.parent.iterdir() if each != place)
    found.rename(place)


def writable_by_the_group(place: Path) -> None:
    place.chmod(0o620)


def writable_by_others(place: Path) -> None:
    place.chmod(0o602)


def in_a_folder_of_others(place: Path) -> None:
    place.parent.chmod(0o777)


def a_link(place: Path) -> None:
    place.rename(place.parent.parent / "elsewhere")
    place.symlink_to(place.parent.parent / "elsewhere")


def a_folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


def a_pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def through_a_link(place: Path) -> None:
    place.parent.rename(place.parent.parent / "elsewhere")
    place.parent.symlink_to(place.parent.parent / "elsewhere")


def too_large(place: Path) -> None:
    with place.open("r+b") as data:
        data.truncate(module.LARGEST + 1)


def gone(place: Path) -> None:
    place.unlink()
    place.parent.rmdir()


@pytest.mark.parametrize(
    "spoil",
    [
        garbled,
        truncated,
        emptied,
        of_another_version,
        with_another_question,
        writable_by_the_group,
        writable_by_others,
        in_a_folder_of_others,
        a_link,
        a_folder,
        a_pipe,
        through_a_link,
        too_large,
        gone,
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_what_is_not_whole_or_not_ours_is_no_answer(
    cache: FolderCache, folder: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(file(folder))
    assert cache.get("question", Answer) is None


@pytest.mark.parametrize("spoil", [garbled, truncated, of_another_version, writable_by_others, a_link, gone])
def test_it_is_made_anew(cache: FolderCache, folder: Path, spoil: Callable[[Path], None]) -> None:
    spoil(file(folder))
    cache.put("question", ANSWER)
    assert cache.get("question", Answer) == ANSWER


def test_another_users_folder_is_neither_read_nor_written(cache: FolderCache, folder: Path) -> None:
    foreign = FolderCache(folder, USER + 1)
    assert foreign.get("question", Answer) is None
    foreign.put("question", Answer(("c",)))
    assert cache.get("question", Answer) == ANSWER


def test_an_answer_of_another_form_is_none(cache: FolderCache) -> None:
    class Other(msgspec.Struct):
        number: int

    assert cache.get("question", Other) is None


@pytest.mark.parametrize("answer", [10**30, "\ud800", "x" * 1001], ids=["int", "text", "size"])
def test_what_cannot_be_kept_is_not(folder: Path, answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1000)
    FolderCache(folder, USER).put("question", answer)
    assert not folder.exists() or not list(folder.iterdir())


def test_where_nothing_can_be_written_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "no" / "where"):
        cache = FolderCache(folder, USER)
        cache.put("question", ANSWER)
        assert cache.get("question", ANSWER.__class__) is None


def test_the_oldest_are_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 3)
    cache = FolderCache(folder, USER)
    for number in range(6):
        cache.put(str(number), ANSWER)
        for age, found in enumerate(sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)):
            os.utime(found, (1000 + age, 1000 + age))
    assert [number for number in range(6) if cache.get(str(number), Answer)] == [3, 4, 5]


def test_it_stays_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 3_000)
    cache = FolderCache(folder, USER)
    for number in range(9):
        cache.put(str(number), Answer(("x" * 1000,)))
    assert sum(found.stat().st_size for found in folder.iterdir()) <= 3_000
    assert cache.get("8", Answer) is not None


def test_one_that_is_larger_than_all_is_kept_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    cache = FolderCache(folder, USER)
    cache.put("one", ANSWER)
    cache.put("two", Answer(("x" * 1000,)))
    assert cache.get("one", Answer) is None
    assert cache.get("two", Answer) is not None


def test_those_that_are_asked_for_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 3)
    cache = FolderCache(folder, USER)
    for number in range(3):
        cache.put(str(number), ANSWER)
        for found in folder.iterdir():
            age = found.stat().st_mtime_ns - 10**12
            os.utime(found, ns=(age, age))
    assert cache.get("0", Answer) == ANSWER
    cache.put("3", ANSWER)
    assert [number for number in range(4) if cache.get(str(number), Answer)] == [0, 2, 3]


def test_what_killed_writers_left_is_removed_later(cache: FolderCache, folder: Path) -> None:
    (folder / "new-old").write_bytes(b"half")
    (folder / "new-now").write_bytes(b"half")
    now = folder.stat().st_mtime_ns
    os.utime(folder / "new-old", ns=(now - 2 * module.ABANDONED,) * 2)
    cache.put("another", ANSWER)
    assert {found.name for found in folder.glob("new-*")} == {"new-now"}
    assert cache.get("question", Answer) == cache.get("another", Answer) == ANSWER


def test_what_is_no_file_of_its_own_is_left_alone(
    cache: FolderCache, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 1)
    (folder / "a-folder").mkdir()
    cache.put("another", ANSWER)
    assert cache.get("another", Answer) == ANSWER
    assert cache.get("question", Answer) is None
    assert (folder / "a-folder").is_dir()


def test_large_parts_of_an_answer_are_not_copied(folder: Path) -> None:
    class Pack(msgspec.Struct):
        definitions: dict[str, msgspec.Raw]
        text: memoryview

    cache = FolderCache(folder, USER)
    large = bytes(1 << 20)
    cache.put("pack", Pack({"a": msgspec.Raw(msgspec.msgpack.encode(large))}, memoryview(large)))
    tracemalloc.start()
    found = cache.get("pack", Pack)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is not None
    assert msgspec.msgpack.decode(found.definitions["a"]) == bytes(found.text) == large
    assert most < 2.5 * len(large), "the file's bytes, and nothing of them once more"


@given(st.data())
def test_a_file_with_any_byte_changed_or_any_end_cut_off_is_no_answer(data: st.DataObject) -> None:
    whole = b"".join(file_parts("question", msgspec.msgpack.encode(ANSWER)))
    assert bytes(read_answer("question", whole)) == msgspec.msgpack.encode(ANSWER)
    place = data.draw(st.integers(0, len(whole) - 1))
    bits = data.draw(st.integers(1, 255))
    changed = whole[:place] + bytes([whole[place] ^ bits]) + whole[place + 1 :]
    for spoilt in (changed, whole[:place], whole + whole[: place + 1]):
        with pytest.raises(ValueError, match="not"):
            read_answer("question", spoilt)
