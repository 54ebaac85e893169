"""The near end of a deploy to one node: greet, hand over the program where it is missing, order, listen."""

import base64
from typing import Any

import msgspec

from gitcfg.deploy.answers import (
    MOST_DONE,
    MOST_HELLO,
    MOST_PROBLEM,
    MOST_TOLD,
    done_of,
    hello_of,
    numbers_of,
    problem_of,
    told_of,
)
from gitcfg.deploy.carry import command
from gitcfg.deploy.frames import Frames
from gitcfg.deploy.greeting import greet
from gitcfg.deploy.messages import Decide, Done, Hello, Line, Order, Told
from gitcfg.deploy.problems import REFUSED, FarError, LineLost, NoPython, Unreadable
from gitcfg.install.remote.protocol import (
    CONTENTS,
    DONE,
    HELLO,
    LACKS,
    ORDER,
    PARTS,
    PROBLEM,
    SMALL,
    TOLD,
    Content,
    Parts,
    list_contents,
    short_ids,
    split_package,
    whole_sum,
)

__all__ = ["Done", "FarError", "Hello", "Line", "LineLost", "NoPython", "Order", "command", "talk"]

_MOST_LACKS, _MOST_STEPS = 1 << 20, 100_000
HANDED_OVER = "order"
"""The `after` of a line that is lost when the order is whole there and no step was heard of."""


def talk(line: Line, decide: Decide, told: Told) -> Done | None:
    """Deploy over an open line on which `command` runs; None where `decide` said so: nothing is touched.

    `told` hears of each step of the node as it begins and ends. Raises FarError.
    """
    frames = Frames(line)
    greet(frames, line)
    hello = hello_of(_answer(frames, HELLO, MOST_HELLO))
    order = decide(hello)
    if order is None:
        return None
    _hand_over(frames, order, hello.digest)
    try:
        return _heard(frames, order, told)
    except Unreadable as error:
        if not frames.after:
            raise
        raise LineLost(error.message, after=frames.after) from error  # it may have begun


def _hand_over(frames: Frames, order: Order, digest: str | None) -> None:
    """First the short ids of all parts, then the parts and the contents that the node lacks; or all at once.

    Nothing secret is handed over unasked, nor anything to a node that has all of it already.
    """
    hidden = {path: content.encode() for path, content in order.hidden.items()}
    parts = split_package(order.package, hidden)
    wanted = list_contents(parts.pieces)
    if digest != order.package["digest"] and not hidden and _size(parts) <= SMALL:
        _all_at_once(frames, order, parts, wanted, digest)
        return
    ids = base64.b64encode(b"".join(short_ids(parts.pieces))).decode()
    frames.say(ORDER, [msgspec.json.encode(_ordered(order, parts, digest) | {"ids": ids})])
    lacking = numbers_of(_answer(frames, LACKS, _MOST_LACKS), len(parts.pieces))
    if lacking:
        frames.say(PARTS, [b"\n".join(parts.pieces[number] for number in lacking)])
    lacking = numbers_of(_answer(frames, LACKS, _MOST_LACKS), len(wanted))
    asked = [wanted[number] for number in lacking]
    if any(one.sha256 not in parts.contents or (order.dry and one.secret) for one in asked):
        raise FarError(REFUSED, "The node asks for what it must not have.")
    if not order.dry:
        frames.after = HANDED_OVER
    if asked:
        frames.say(CONTENTS, (parts.contents[one.sha256] for one in asked))


def _size(parts: Parts) -> int:
    return sum(map(len, parts.pieces)) + sum(map(len, parts.contents.values()))


def _all_at_once(
    frames: Frames, order: Order, parts: Parts, wanted: tuple[Content, ...], base: str | None
) -> None:
    said = _ordered(order, parts, base) | {"pieces": [piece.decode() for piece in parts.pieces]}
    if not order.dry:
        frames.after = HANDED_OVER
    contents = (parts.contents[one.sha256] for one in wanted)
    frames.say_all((ORDER, [msgspec.json.encode(said)]), (CONTENTS, contents))


def _ordered(order: Order, parts: Parts, base: str | None) -> dict[str, Any]:
    return {
        "head": parts.head,
        "sum": whole_sum(parts.pieces),
        "actions": order.actions._asdict(),
        "dry": order.dry,
        "force_agent": order.force_agent,
        "who": order.who[:200],
        "wait": order.wait,
        "base": base or "",
    }


def _heard(frames: Frames, order: Order, told: Told) -> Done:
    """Steps, until it is done."""
    limits = {TOLD: MOST_TOLD, DONE: MOST_DONE, PROBLEM: MOST_PROBLEM}
    for _ in range(_MOST_STEPS):
        kind, raw = frames.receive(limits)
        if kind == DONE:
            return done_of(raw, str(order.package["commit"]), frames.sent, frames.received)
        if kind == PROBLEM:
            raise problem_of(raw)
        step, state = told_of(raw)
        frames.after = step
        told(step, state)
    raise Unreadable("It tells of more steps than there can be.")


def _answer(frames: Frames, kind: int, most: int) -> bytes:
    came, raw = frames.receive({kind: most, PROBLEM: MOST_PROBLEM})
    if came == PROBLEM:
        raise problem_of(raw)
    return raw
