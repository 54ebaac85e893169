"""Names as bits are sets of names."""

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile.surface import Bits

NAMES = st.frozensets(st.sampled_from("abcdefghij"))


@given(NAMES, NAMES, NAMES)
def test_masks_are_sets(known: frozenset[str], left: frozenset[str], right: frozenset[str]) -> None:
    bits = Bits(known)
    assert set(bits.of(bits.mask(left) & bits.mask(right))) == left & right
    assert set(bits.of(bits.mask(left) | bits.mask(right))) == left | right
    assert set(bits.of(bits.mask(left) & ~bits.mask(right))) == left - right


@given(NAMES, NAMES)
def test_only_what_came_up_is_among(known: frozenset[str], asked: frozenset[str]) -> None:
    bits = Bits(known)
    assert set(bits.of(bits.among(asked))) == known & asked
    assert set(bits.names) == known
