"""Far ends that are broken or hostile: they get an error out of the near end, and no more of its memory."""

import json
import struct
import tracemalloc
import zlib
from collections.abc import Iterable
from functools import partial

import pytest

from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.outcomes import FarError, LineLost
from gitcfg.deploy.turn import talk
from gitcfg.install.remote.protocol import DONE, HELLO, LACKS, PROBLEM, SMALL, TOLD, encode_message
from tests.deploy.process import ordered, unheard
from tests.install.world import package

WELCOME = b"gitcfg-far/1 line\ngitcfg-far/1 shell\ngitcfg-far/1 have\n"
OUTCOME = {"result": "ok", "commit": "a" * 40, "digest": "a" * 64}


LARGE = package({"/etc/a": "one\n"}, params={"Setting": "x" * SMALL})
"""What does not travel at once."""


class Scripted:
    """A line that says what it was told to say, and takes everything."""

    def __init__(self, says: Iterable[bytes]) -> None:
        self._says = iter(says)
        self._rest = b""
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.sent.append(data)

    def receive(self, most: int) -> bytes:
        self._rest = self._rest or next(self._says, b"")
        said, self._rest = self._rest[:most], self._rest[most:]
        return said

    def stderr(self) -> str:
        return "what \x1b[31mstderr says\n"

    def ended(self) -> int | None:
        return 1

    def unpacked(self) -> bytes:
        """All that was sent, out of its frames."""
        raw, found, stream = b"".join(self.sent), b"", zlib.decompressobj()
        while raw:
            kind, size = struct.unpack(">BI", raw[:5])
            found += stream.decompress(raw[5 : 5 + size])
            raw = raw[5 + size :]
            if not kind & 0x80:
                stream = zlib.decompressobj()
        return found


def frames(kind: int, raw: bytes) -> bytes:
    return b"".join(encode_message(kind, [raw]))


def said(kind: int, value: object) -> bytes:
    return frames(kind, json.dumps(value).encode())


def greeting(**more: object) -> bytes:
    hello = {"python": "3.11.2", "host": "n1", "user": "root", **more}
    return WELCOME + said(HELLO, hello)


def talked(*says: bytes) -> object:
    return talk(Scripted(says), lambda hello: ordered(LARGE), unheard)


def refused(*says: bytes) -> str:
    with pytest.raises(FarError) as found:
        talked(*says)
    assert found.value.kind in ("refused", "lost")
    assert "\x1b" not in found.value.message
    return found.value.message


def test_a_good_one_is_heard() -> None:
    whole = (greeting(), said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": OUTCOME}))
    assert talked(*whole) is not None
    assert talked(*(bytes([one]) for one in b"".join(whole))) is not None


def test_what_shells_say_before_is_passed_over() -> None:
    rest = (said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": OUTCOME}))
    assert talked(b"Welcome to n1!\n\xff\0 # ", greeting(), *rest) is not None
    assert "cannot run commands" in refused(b"Welcome to n1!\n")


def test_who_writes_without_end_is_told_from_who_says_nothing() -> None:
    rest = (said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": OUTCOME}))
    assert "prints too much" in refused(b"x" * 70_000, greeting(), *rest)
    assert "prints too much" in refused(*[b"welcome\n"] * 9000, greeting(), *rest)
    assert "prints too much" in refused(WELCOME.partition(b"\n")[0] + b"\n", *[b"\n"] * 70_000)


@pytest.mark.parametrize(("code", "hint"), [(1, "--ask-sudo"), (127, "--no-sudo")])
def test_without_root_it_is_said_what_to_do(code: int, hint: str) -> None:
    class Ended(Scripted):
        def ended(self) -> int | None:
            return code

    with pytest.raises(FarError) as found:
        talk(Ended([b"gitcfg-far/1 line\n"]), lambda hello: None, unheard)
    assert (found.value.kind, hint in found.value.hints[0]) == ("sudo", True)


@pytest.mark.parametrize(
    "hello",
    [
        {"commit": "HEAD"},
        {"commit": "a" * 39},
        {"commit": "a" * 40 + "\n"},
        {"commit": "A" * 40},
        {"digest": "a" * 40},
        {"digest": ""},
        {"agent": "sleeping"},
        {"agent": None},
    ],
)
def test_a_hello_that_no_schema_takes_is_none(hello: dict[str, str | None]) -> None:
    assert "Cannot read the node" in refused(greeting(**hello))


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"\x01",
        b"\xff" * 100,
        struct.pack(">BI", HELLO, 1 << 31) + b"x" * 100_000,
        struct.pack(">BI", HELLO | 0x80, 0) * 1000,
        struct.pack(">BI", HELLO, 5) + b"plain",
        struct.pack(">BI", HELLO, 0),
        struct.pack(">BI", HELLO | 0x80, 10) + zlib.compress(b"{}")[:10] + frames(DONE, b"{}"),
        frames(TOLD, b'["a","b"]'),
        frames(HELLO, b"not json"),
        frames(HELLO, b"[]"),
        frames(HELLO, b'{"python": 3}'),
        frames(HELLO, b"[" * 100_000),
        frames(HELLO, b"\xff\xfe"),
        said(HELLO, {"python": "x" * 1000, "host": "", "user": ""}),
        frames(HELLO, b"{}")[:-3],
    ],
    ids=range(16),
)
def test_broken_first_words(says: bytes) -> None:
    assert refused(WELCOME, says)


@pytest.mark.parametrize(
    "says",
    [
        [said(LACKS, [5])],
        [said(LACKS, [-1])],
        [said(LACKS, [1, 0])],
        [said(LACKS, [0, 0])],
        [said(LACKS, ["0"])],
        [said(LACKS, {"0": 1})],
        [said(LACKS, []), said(LACKS, [1])],
        [said(LACKS, []), said(LACKS, []), said(HELLO, {})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": {**OUTCOME, "commit": "b" * 40}})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": {**OUTCOME, "commit": ""}})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": {**OUTCOME, "result": "fine"}})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": {**OUTCOME, "digest": "d"}})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": {**OUTCOME, "digest": ""}})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": {**OUTCOME, "changed": "x"}})],
        [said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": OUTCOME, "differences": {"a": 1}})],
        [said(LACKS, []), said(LACKS, []), said(TOLD, ["x" * 9000, "begun"])],
        [said(LACKS, []), said(LACKS, []), said(TOLD, ["x"])],
    ],
    ids=range(17),
)
def test_broken_answers(says: list[bytes]) -> None:
    assert refused(greeting(), *says)


@pytest.mark.slow
def test_no_end_of_steps_is_an_end() -> None:
    step = said(TOLD, ["restart app", "begun"])
    assert "too many steps" in refused(greeting(), said(LACKS, []), said(LACKS, []), *[step] * 100_001)


def test_a_bomb_takes_no_memory() -> None:
    """64 MiB of zeros are 64 KiB on the line; the hello may be 4 MiB, and is not kept longer than that."""
    bomb = frames(HELLO, b" " * (64 << 20))
    tracemalloc.start()
    try:
        assert "longer than" in refused(WELCOME, bomb)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


def test_its_problem_is_told_without_what_a_terminal_obeys() -> None:
    problem = said(PROBLEM, {"kind": "full", "message": "No\x1b[2J room\u202e.", "hints": ["Make\x07 room."]})
    with pytest.raises(FarError) as found:
        talked(greeting(), problem)
    assert (found.value.kind, found.value.message) == ("full", "No\ufffd[2J room\ufffd.")
    assert found.value.hints == ("Make\ufffd room.",)
    unknown = said(PROBLEM, {"kind": "ok", "message": "x"})
    with pytest.raises(FarError) as other:
        talked(greeting(), unknown)
    assert other.value.kind == "refused"


def test_hello_is_cleaned() -> None:
    heard: list[Hello] = []
    report = {**OUTCOME, "output": "\x1b]0;x\x07", "changed": ["/etc/\x1b"]}
    line = Scripted([greeting(host="n\x1b1", report=report, busy="a\nb\rc")])

    def decide(hello: Hello) -> None:
        heard.append(hello)

    assert talk(line, decide, unheard) is None
    (hello,) = heard
    assert hello.report is not None
    assert hello.host == "n\ufffd1"
    assert hello.report.output == "\ufffd]0;x\ufffd"
    assert hello.report.changed == ("/etc/\ufffd",)
    assert hello.busy == "a\nb\ufffdc"


@pytest.mark.parametrize(
    ("says", "after"),
    [
        ([greeting()], ""),
        ([greeting(), said(LACKS, [])], ""),
        ([greeting(), said(LACKS, []), said(LACKS, [])], "order"),
        ([greeting(), said(LACKS, []), said(LACKS, []), said(TOLD, ["restart a", "begun"])], "restart a"),
        ([greeting(), said(LACKS, []), said(LACKS, []), said(DONE, {"outcome": OUTCOME})[:-1]], "order"),
    ],
    ids=range(5),
)
def test_a_lost_line_tells_how_far_it_was(says: list[bytes], after: str) -> None:
    with pytest.raises(LineLost) as found:
        talked(*says)
    assert found.value.after == after


def test_nonsense_after_the_order_is_a_lost_line() -> None:
    """Nobody knows then whether the installation began."""
    with pytest.raises(LineLost) as found:
        talked(greeting(), said(LACKS, []), said(LACKS, []), said(TOLD, ["stop a", "done"]), b"nonsense")
    assert found.value.after == "stop a"
    order = ordered(LARGE, dry=True)
    line = Scripted([greeting(), said(LACKS, []), said(LACKS, []), b"nonsense"])
    with pytest.raises(FarError) as dry:
        talk(line, lambda hello: order, unheard)
    assert dry.value.kind == "refused"


@pytest.mark.parametrize(
    ("dry", "says", "kind", "after"),
    [
        (False, [], "lost", "order"),
        (False, [said(LACKS, [])], "lost", "order"),
        (False, [said(TOLD, ["restart a", "begun"])], "lost", "restart a"),
        (False, [said(PROBLEM, {"kind": "busy", "message": "x"})], "busy", ""),
        (True, [], "lost", ""),
        (True, [b"nonsense"], "refused", ""),
    ],
    ids=range(6),
)
def test_a_small_order_is_handed_over_with_its_first_byte(
    dry: bool, says: list[bytes], kind: str, after: str
) -> None:
    """Whatever goes wrong after that may have gone wrong while the node installs."""
    line = Scripted([greeting(), *says])
    with pytest.raises(FarError) as found:
        talk(line, lambda hello: ordered(package({"/etc/a": "one\n"}), dry=dry), unheard)
    assert found.value.kind == kind
    assert getattr(found.value, "after", "") == after
    assert len(line.sent) == 1


def _of(order: Order, hello: Hello) -> Order:
    return order


def test_secrets_and_what_stands_do_not_travel_unasked() -> None:
    new = package({"/etc/a": "one\n"})
    stands = Scripted([greeting(commit="b" * 40, digest=new.digest)])
    hides = Scripted([greeting()])
    for line, order in ((stands, ordered(new)), (hides, ordered(new, hidden={"/etc/a": "hush\n"}))):
        with pytest.raises(LineLost) as found:
            talk(line, partial(_of, order), unheard)
        assert found.value.after == ""
        assert b"one\n" not in line.unpacked()
        assert b"hush" not in line.unpacked()


def test_what_the_line_cannot_do_is_a_lost_line() -> None:
    class Broken(Scripted):
        def send(self, data: bytes) -> None:
            raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(LineLost, match="Broken pipe"):
        talk(Broken([greeting()]), lambda hello: ordered(package({})), unheard)

    class Late(Scripted):
        def receive(self, most: int) -> bytes:
            raise TimeoutError("timed out")

    with pytest.raises(LineLost, match="timed out"):
        talk(Late([]), lambda hello: None, unheard)
