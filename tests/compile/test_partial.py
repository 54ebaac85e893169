"""A partial made from an older one is what composing all of it gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gitcfg.compile.operations import NOTHING, Step
from gitcfg.compile.partial import Partial, update_partial
from gitcfg.model import FileEntry, Op, Origin

NOWHERE = Origin("x")
STEPS = st.sampled_from(
    [
        Step(Op.SET, ["a"], NOWHERE),
        Step(Op.APPEND, ["b"], NOWHERE),
        Step(Op.PREPEND, ["c"], NOWHERE),
        Step(Op.DEFAULT, ["d"], NOWHERE),
        Step(Op.NULL, NOTHING, NOWHERE),
        Step(Op.FACT, "k", NOWHERE),
        Step(Op.UNSET, True, NOWHERE),
    ]
)
OWN = st.dictionaries(st.sampled_from("PQRS"), STEPS, max_size=3)
FILES = st.dictionaries(
    st.sampled_from(["/a", "/b"]), st.builds(FileEntry, st.just("/a"), st.just(NOWHERE), st.just(()))
)

FOUND = ("cells", "open", "pending", "files", "features", "places")


@st.composite
def pools(draw: DrawFn) -> list[Partial]:
    """Layers to choose parts from: plain ones, and some that are made of others."""
    plain = [Partial(name, (), draw(OWN), draw(FILES), frozenset({name})) for name in ("a", "b", "c", "d")]
    chosen = st.lists(st.sampled_from(plain), max_size=3).map(tuple)
    return [*plain, *(Partial(name, draw(chosen), draw(OWN)) for name in ("e", "f"))]


@pytest.mark.slow
@given(st.data())
def test_what_is_updated_is_what_is_composed(data: st.DataObject) -> None:
    pool = data.draw(pools())
    parts = st.lists(st.sampled_from(pool), max_size=4).map(tuple)
    partial = Partial("x", data.draw(parts), data.draw(OWN), data.draw(FILES), frozenset({"x"}))
    for _ in range(data.draw(st.integers(1, 4))):
        own = data.draw(st.just(partial.own) | OWN)
        files = data.draw(st.just(partial.own_files) | FILES)
        below = data.draw(st.just(partial.parts) | st.permutations(partial.parts).map(tuple) | parts)
        partial = update_partial(partial, below, own, files, frozenset({"x"}))
        whole = Partial("x", below, own, files, frozenset({"x"}))
        for name in ("label", "parts", "own", "own_files", *FOUND):
            assert getattr(partial, name) == getattr(whole, name), name


@pytest.mark.slow
@given(st.data())
def test_what_is_the_same_is_not_made_again(data: st.DataObject) -> None:
    pool = data.draw(pools())
    partial = Partial("x", tuple(pool[:3]), data.draw(OWN), {}, frozenset({"x"}))
    assert update_partial(partial, partial.parts, partial.own, partial.own_files) is partial
    own = {**partial.own, "T": Step(Op.SET, ["t"], NOWHERE)}
    after = update_partial(partial, partial.parts, own, partial.own_files)
    assert all(after.cells[name] is cell for name, cell in partial.cells.items())
