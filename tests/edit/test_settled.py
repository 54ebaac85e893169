"""Files settled place by place: each says what is wanted, and keeps how the present text is written."""

from copy import deepcopy
from random import Random
from typing import Any

import pytest

from gitcfg.edit.merge import WHOLE, Place, Sides, find_clashes, is_merged, settle_file
from gitcfg.git.revert import Side
from gitcfg.load.document import parse
from tests.edit.styled import Writer, value
from tests.seeds import many

GROUP, SHEET = "groups/W.yaml", "parameters/p.yaml"
NAMES = ("START", "MAX", "RANK", "A_B", "x.y")
FIELDS = ("description", "features", "more")


def group(rng: Random) -> dict[str, Any]:
    """A random group."""
    found: dict[str, Any] = {name: value(rng, 1) for name in FIELDS if rng.randrange(2)}
    params = {name: value(rng, 2) for name in NAMES if rng.randrange(3)}
    return {**found, "params": params} if params or rng.randrange(2) else found


def changed(rng: Random, was: dict[str, Any]) -> dict[str, Any]:
    """A group of which some things are other, gone or new."""
    found = deepcopy(was)
    for _ in range(rng.choice((1, 1, 2, 4))):
        holder, names = (found, FIELDS) if rng.randrange(3) == 0 else (found.setdefault("params", {}), NAMES)
        name = rng.choice(names)
        if rng.randrange(4) == 0:
            holder.pop(name, None)
        else:
            holder[name] = value(rng, 1)
    return found


def flat(said: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """By key, those of parameters by name."""
    return {(name,): each for name, each in said.items() if name != "params"} | {
        ("params", name): each for name, each in (said.get("params") or {}).items()
    }


def drawn(rng: Random) -> tuple[list[dict[str, Any]], Sides]:
    """A group then, now, and as it would be, and how that is written: now and undone differ from then."""
    was = group(rng)
    three = [was, changed(rng, was), changed(rng, was)]
    texts = [Writer(rng).document(each).encode() for each in three]
    read = [parse(GROUP, text).value or {} for text in texts]
    return read, (texts[0], texts[1], texts[2])


def by_hand(three: list[dict[str, Any]], chosen: dict[Place, Side]) -> dict[tuple[str, ...], Any]:
    """What is wanted, from the values alone."""
    was, now, undone = map(flat, three)
    found = {}
    for key in {*was, *now, *undone}:
        before, here, back = (repr(each.get(key, "-absent-")) for each in (was, now, undone))
        side = now if back in (here, before) else undone if here == before else None
        if side is None:
            side = now if chosen["group/W", key] is Side.OURS else undone
        if key in side:
            found[key] = side[key]
    return found


@pytest.mark.parametrize("seed", many(1, 150))
def test_a_settled_file_says_what_is_wanted(seed: int) -> None:
    """The values are those that were found by hand, whatever the texts look like."""
    rng = Random(f"settled {seed}")
    three, sides = drawn(rng)
    found = [clash for clash in find_clashes(GROUP, *sides) if clash.key and not clash.beside]
    chosen = {(clash.entity, clash.key): rng.choice(list(Side)) for clash in found}
    text = settle_file(GROUP, sides, chosen)
    assert text is not None, sides
    assert flat(parse(GROUP, text).value or {}) == by_hand(three, chosen)
    assert found or is_merged(GROUP, sides, text)
    if found:
        assert settle_file(GROUP, sides, dict(list(chosen.items())[1:])) is None


@pytest.mark.parametrize("seed", many(1, 40))
def test_what_stays_is_not_written_anew(seed: int) -> None:
    """Where ours counts in all that differs, not a byte is other."""
    rng = Random(f"stays {seed}")
    was = group(rng)
    now = changed(rng, was)
    texts = [Writer(rng).document(each).encode() for each in (was, now)]
    assert settle_file(GROUP, (texts[0], texts[1], texts[0]), {}) == texts[1]


OURS = """\
# The workers.
params:
  START: 'three'   # why
  # On the next one.
  MAX: m3
  LIST:
    - a   # first
    - b
    - d
features: [X]
"""
THEIRS = """\
params:
  START: "one"
  MAX: m1
  LIST: [a, c, d]
  NEW: {$append: x}
features: [X]
description: It
"""
BASE = b"params: {START: two, MAX: m2, LIST: [a, b, d]}\nfeatures: [X]\n"


def test_values_come_and_the_rest_stays() -> None:
    chosen: dict[Place, Side] = {
        ("group/W", ("params", "START")): Side.THEIRS,
        ("group/W", ("params", "MAX")): Side.OURS,
    }
    text = settle_file(GROUP, (BASE, OURS.encode(), THEIRS.encode()), chosen)
    wanted = OURS.replace("'three'", '"one"').replace("    - b\n", "    - c\n")
    wanted = wanted.replace("features", "  NEW: {$append: x}\nfeatures") + "description: It\n"
    assert text == wanted.encode()


def test_entries_of_a_sheet_come_and_go() -> None:
    """An entry that one side has removed is settled as a whole."""
    base = b"parameters:\n  A: {type: string}\n  B: {type: list}\n  C: {}\n"
    ours = b"parameters:\n  A:\n    type: string   # of a\n    description: a\n  C: {}\n"
    theirs = b"parameters:\n  B: {type: list, tags: [x]}\n  C: {}\n"
    names = [clash.entity for clash in find_clashes(SHEET, base, ours, theirs)]
    assert names == ["parameter/A", "parameter/B"]
    chosen: dict[Place, Side] = {("parameter/A", WHOLE): Side.THEIRS, ("parameter/B", WHOLE): Side.THEIRS}
    text = settle_file(SHEET, (base, ours, theirs), chosen)
    assert text is not None
    assert parse(SHEET, text).value == parse(SHEET, theirs).value
    chosen = {("parameter/A", WHOLE): Side.OURS, ("parameter/B", WHOLE): Side.OURS}
    assert settle_file(SHEET, (base, ours, theirs), chosen) == ours


@pytest.mark.parametrize(
    "sides",
    [
        (BASE, None, THEIRS.encode()),
        (BASE, OURS.encode(), None),
        (BASE, b"params: {START: [\n", THEIRS.encode()),
        (BASE, OURS.encode(), b"{broken"),
        (BASE, b"\xff", THEIRS.encode()),
        (BASE, b"text\n", THEIRS.encode()),
        (None, b"params: {START: 1}\n", b"params: {START: true}\n"),
    ],
)
def test_what_is_not_certain_is_not_settled(sides: Sides) -> None:
    assert settle_file(GROUP, sides, {}) is None
