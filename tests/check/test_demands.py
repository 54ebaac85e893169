"""Demands on sets of names that are bits are those on sets of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.check.structure import Demands
from gitcfg.compile.surface import Bits
from gitcfg.model import Feature, Origin, Ref

LETTERS = "abcdef"
PLACE = Origin("x")
REFS = st.frozensets(st.sampled_from(LETTERS + "z")).map(
    lambda names: tuple(Ref(name, Origin(name)) for name in sorted(names))
)
FEATURES = st.fixed_dictionaries(
    {
        name: st.builds(Feature, st.just(name), st.just(PLACE), depends=REFS, conflicts=REFS)
        for name in LETTERS
    }
)


@pytest.mark.slow
@given(FEATURES, st.frozensets(st.sampled_from(LETTERS)))
def test_what_is_missing_and_what_clashes(features: dict[str, Feature], have: frozenset[str]) -> None:
    bits = Bits(LETTERS)
    demands = Demands(bits, features.get, LETTERS)
    missing = {
        ref.name: [name for name in sorted(have) if ref in features[name].depends]
        for needer in have
        for ref in features[needer].depends
        if ref.name in LETTERS and ref.name not in have
    }
    found = {name: [needer for needer, _ in needers] for name, needers in demands.missing(bits.mask(have))}
    assert found == missing
    clashing = {
        tuple(sorted((name, ref.name)))
        for name in have
        for ref in features[name].conflicts
        if ref.name in have and ref.name != name
    }
    assert {pair for pair, _ in demands.clashing(bits.mask(have))} == clashing
