"""The far end of a deploy against near ends that are broken or hostile: nothing is touched, and it ends."""

import base64
import json
import struct
from contextlib import suppress
from typing import Any

import pytest

from gitcfg.install.package import Package, package_to_json
from gitcfg.install.remote.protocol import (
    CONTENTS,
    DONE,
    HELLO,
    LACKS,
    ORDER,
    PARTS,
    PROBLEM,
    TOLD,
    encode_message,
    read_message,
    short_ids,
    split_package,
    whole_sum,
)
from tests.deploy.forked import Forked
from tests.install.world import World, package

LIMITS = dict.fromkeys(range(1, 9), 1 << 24)
NEW = package({"/etc/app/a": "one\n", "/etc/app/b": "two\n"})


class Near:
    """The near end's side of a line to a far end, by hand."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.line = Forked(world.place())
        self._came = b""
        while b"have\n" not in self._came:
            self._came += self.line.receive(1000)
        self._came = self._came.partition(b"have\n")[2]
        assert self.next()[0] == HELLO

    def say(self, kind: int, raw: bytes) -> None:
        for frame in encode_message(kind, [raw]):
            self.line.send(frame)

    def next(self) -> tuple[int, Any]:
        kind, raw = read_message(self._take, LIMITS)
        return kind, json.loads(raw)

    def _take(self, size: int) -> bytes:
        while len(self._came) < size:
            more = self.line.receive(1 << 16)
            if not more:
                raise EOFError
            self._came += more
        found, self._came = self._came[:size], self._came[size:]
        return found

    def refused(self) -> str:
        """What it says instead of anything else; nothing was touched."""
        kind, said = self.next()
        while kind in (LACKS, TOLD):
            kind, said = self.next()
        assert (kind, said["kind"]) == (PROBLEM, "refused")
        assert self.line.close() == 3
        assert not (self.world.root / "etc").exists()
        return str(said["message"])


def order(new: Package = NEW, **more: Any) -> dict[str, Any]:
    parts = split_package(package_to_json(new), {})
    said = {
        "head": parts.head,
        "ids": base64.b64encode(b"".join(short_ids(parts.pieces))).decode(),
        "sum": whole_sum(parts.pieces),
        "actions": {},
        "dry": False,
        "force_agent": False,
        "who": "",
        "wait": 0,
        "base": "",
    }
    return {**said, **more}


def raw(said: object) -> bytes:
    return json.dumps(said).encode()


PIECES = split_package(package_to_json(NEW), {}).pieces
WHOLE = b"one\ntwo\n"


def test_one_by_hand_is_done(world: World) -> None:
    near = Near(world)
    near.say(ORDER, raw(order()))
    assert near.next() == (LACKS, [0, 1, 2, 3])
    near.say(PARTS, b"\n".join(PIECES))
    assert near.next() == (LACKS, [0, 1])
    near.say(CONTENTS, WHOLE)
    kinds = [near.next()[0] for _ in range(3)]
    assert kinds == [TOLD, TOLD, DONE]
    assert near.line.close() == 0
    assert world.read("/etc/app/b") == "two\n"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[]",
        b"nothing",
        b"[" * 100_000,
        b"\xff",
        b"{}",
        raw({}),
        raw(order(ids="abcde")),
        raw(order(ids=7)),
        raw({key: value for key, value in order().items() if key != "dry"}),
    ],
    ids=range(10),
)
def test_orders_that_are_none(world: World, said: bytes) -> None:
    near = Near(world)
    near.say(ORDER, said)
    assert "Cannot read the order" in near.refused()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"who": "x" * 300}, "who is longer"),
        ({"wait": -1}, "wait is not a number"),
        ({"wait": True}, "wait is not a number"),
        ({"actions": {"restart": "app"}}, "restart is not a list"),
        ({"head": []}, "Cannot read the order"),
        ({"sum": "0" * 64}, "do not match its checksum"),
        ({"head": {**order()["head"], "schema": "gitcfg.node/2"}}, "schema"),
        ({"head": {**order()["head"], "commit": "../.."}}, "commit"),
        ({"head": {**order()["head"], "state": "other"}}, "state"),
    ],
)
def test_orders_that_make_no_sense(world: World, change: dict[str, Any], why: str) -> None:
    near = Near(world)
    near.say(ORDER, raw(order(**change)))
    assert near.next()[0] == LACKS
    near.say(PARTS, b"\n".join(PIECES))
    if "sum" not in change:
        assert near.next()[0] == LACKS
        near.say(CONTENTS, WHOLE)
    assert why in near.refused()


@pytest.mark.parametrize(
    "came",
    [b"", b"x", b"\n".join(PIECES[1:]), b"\n".join(reversed(PIECES)), b"\n".join((*PIECES, PIECES[0]))],
    ids=range(5),
)
def test_parts_that_were_not_asked_for(world: World, came: bytes) -> None:
    near = Near(world)
    near.say(ORDER, raw(order()))
    assert near.next()[0] == LACKS
    near.say(PARTS, came)
    assert "differ from the requested ones" in near.refused()


@pytest.mark.parametrize("came", [b"", b"one\ntwo", b"two\none\n", b"one\nTwo\n"])
def test_contents_that_were_not_asked_for(world: World, came: bytes) -> None:
    near = Near(world)
    near.say(ORDER, raw(order()))
    assert near.next()[0] == LACKS
    near.say(PARTS, b"\n".join(PIECES))
    assert near.next()[0] == LACKS
    near.say(CONTENTS, came)
    assert "differ from the requested ones" in near.refused()


def with_pieces(world: World, *pieces: object) -> str:
    """What is said to an order of some parts."""
    made = [raw(one) for one in pieces]
    near = Near(world)
    ids = base64.b64encode(b"".join(short_ids(made))).decode()
    near.say(ORDER, raw(order(ids=ids, sum=whole_sum(made))))
    assert near.next()[0] == LACKS
    near.say(PARTS, b"\n".join(made))
    return near.refused()


FILE = {"mode": "0644", "owner": "root", "group": "root", "concerns": {}}


@pytest.mark.parametrize("size", [-1, 1 << 30, 1 << 62, "5", None, 1e400])
def test_sizes_that_nothing_has(world: World, size: object) -> None:
    said = with_pieces(world, ["file", "/etc/app/a", {**FILE, "content": ["0" * 64, size]}])
    assert "larger than" in said or "Cannot read the order" in said


def test_more_than_a_node_takes(world: World) -> None:
    files = [["file", f"/etc/{one}", {**FILE, "content": [f"{one:064x}", 15 << 20]}] for one in range(10)]
    assert "larger than 128 MiB" in with_pieces(world, *files)


@pytest.mark.parametrize(
    "piece",
    [[], {}, 7, ["file"], ["file", 7, {}], ["file", "/etc/a", {}], ["file", "/etc/a", {"content": [1]}]],
    ids=range(7),
)
def test_parts_that_are_none(world: World, piece: object) -> None:
    assert with_pieces(world, piece)


@pytest.mark.parametrize("path", ["/etc/../root/x", "etc/x", "/etc//x", "/etc/.gitcfg-1", "/etc/x\n", ""])
def test_paths_that_are_none(world: World, path: str) -> None:
    near = Near(world)
    new = package({"/etc/app/a": "one\n"})
    bad = new._replace(files={path: new.files["/etc/app/a"]})
    parts = split_package(package_to_json(bad), {})
    near.say(ORDER, raw(order(bad)))
    assert near.next()[0] == LACKS
    near.say(PARTS, b"\n".join(parts.pieces))
    assert near.next() == (LACKS, [0])
    near.say(CONTENTS, b"one\n")
    assert "The path" in near.refused()


@pytest.mark.parametrize(
    "bytes_",
    [
        struct.pack(">BI", ORDER, 1 << 31),
        struct.pack(">BI", HELLO, 3) + b"abc",
        struct.pack(">BI", ORDER, 3) + b"abc",
        struct.pack(">BI", ORDER | 0x80, 0) * 3,
        b"password\n" * 3,
        b"".join(encode_message(ORDER, [b" " * (64 << 20)])),
    ],
    ids=range(6),
)
def test_frames_that_are_none(world: World, bytes_: bytes) -> None:
    near = Near(world)
    near.line.send(bytes_)
    assert near.refused()


@pytest.mark.parametrize("much", [0, 3, 40])
def test_an_order_that_is_cut_off(world: World, much: int) -> None:
    near = Near(world)
    near.line.send(b"".join(encode_message(ORDER, [raw(order())]))[:much])
    assert near.line.close() == 1
    assert not (world.root / "etc").exists()


def test_a_bomb_is_refused_at_once(world: World) -> None:
    """A gibibyte of zeros, as one mebibyte of frames; the order may be 4 MiB."""
    near = Near(world)
    zeros = b" " * (1 << 20)
    with suppress(BrokenPipeError):
        for frame in encode_message(ORDER, (zeros for _ in range(1024))):
            near.line.send(frame)
    assert "longer than" in near.refused()


def small(**more: Any) -> dict[str, Any]:
    """An order that travels at once."""
    said = order() | {"pieces": [piece.decode() for piece in PIECES]} | more
    said.pop("ids")
    return said


def test_a_small_one_needs_no_questions(world: World) -> None:
    near = Near(world)
    near.say(ORDER, raw(small()))
    near.say(CONTENTS, WHOLE)
    assert [near.next()[0] for _ in range(3)] == [TOLD, TOLD, DONE]
    assert near.line.close() == 0
    assert world.read("/etc/app/b") == "two\n"


@pytest.mark.parametrize(
    "said",
    [
        small(pieces=7),
        small(pieces=[7]),
        small(pieces=["\ud800"]),
        small(pieces=[piece.decode() for piece in PIECES[:-1]]),
        small(sum="0" * 64),
    ],
    ids=range(5),
)
def test_a_small_one_that_is_broken(world: World, said: dict[str, Any]) -> None:
    near = Near(world)
    near.say(ORDER, raw(said))
    assert near.refused()


@pytest.mark.parametrize("contents", [b"", b"one\n", b"one\nTWO\n", WHOLE + b"x"], ids=range(4))
def test_contents_of_a_small_one_that_are_others(world: World, contents: bytes) -> None:
    near = Near(world)
    near.say(ORDER, raw(small()))
    near.say(CONTENTS, contents)
    assert near.refused()
