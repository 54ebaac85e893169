"""The journal: lines that are half written, from a full disk and from a death."""

from collections.abc import Iterator

import pytest

from gitcfg.install.disk import Disk
from gitcfg.install.journal import Journal, read_journal
from gitcfg.install.outcome import InstallError
from gitcfg.install.store import JOURNAL, Store, open_store
from tests.install.world import World


class Half(Disk):
    """Writes half of what it is given when `full`."""

    full = False

    def write(self, file: int, content: bytes) -> None:
        if self.full:
            super().write(file, content[: len(content) // 2])
            raise OSError(28, "No space left on device")
        super().write(file, content)


@pytest.fixture
def store(world: World) -> Iterator[Store]:
    with open_store(world.place(Half())) as found:
        Journal(found).begin("key", "a" * 40, "b" * 64)
        yield found


def test_a_line_that_found_no_room_leaves_nothing(store: Store) -> None:
    journal, disk = Journal(store), store.disk
    assert isinstance(disk, Half)
    disk.full = True
    with pytest.raises(OSError, match="No space"):
        journal.add({"step": 1})
    disk.full = False
    journal.add({"step": 2})
    found = read_journal(store)
    assert found is not None
    assert found.begun == [2]


def test_every_beginning_of_a_journal_is_read(world: World, store: Store) -> None:
    journal = Journal(store)
    for number in range(3):
        journal.add({"step": number})
    raw = store.read(JOURNAL) or b""
    read = []
    for size in range(len(raw) + 1):
        world.state(JOURNAL).write_bytes(raw[:size])
        journal.mend()
        found = read_journal(store)
        read.append(None if found is None else len(found.begun))
        if found is not None:
            journal.add({"step": 9})
            again = read_journal(store)
            assert again is not None
            assert again.begun == [*found.begun, 9]
    assert read == sorted(read, key=lambda count: -1 if count is None else count)
    assert {None, 0, 1, 2, 3} == set(read)


def test_a_changed_byte_is_seen(world: World, store: Store) -> None:
    Journal(store).add({"step": 1})
    raw = store.read(JOURNAL) or b""
    world.state(JOURNAL).write_bytes(raw.replace(b"key", b"kez"))
    with pytest.raises(InstallError, match="damaged in line 1"):
        read_journal(store)
