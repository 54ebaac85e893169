"""Of all families' expressions just that one matches a name whose family declares it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile.declarations import Declarations
from gitcfg.editor.choices import family_patterns
from gitcfg.model import Origin, Parameter
from gitcfg.model.names import FAMILY, PARAMETER

_TEXT = st.text("AB._*?", min_size=1, max_size=5)
FAMILIES = st.sets(_TEXT.filter(FAMILY.fullmatch), max_size=5)
NAMES = st.lists(st.text("AB._", min_size=1, max_size=6).filter(PARAMETER.fullmatch), max_size=8)


@pytest.mark.slow
@given(declared=FAMILIES, names=NAMES)
def test_the_best_fit_alone_matches(declared: set[str], names: list[str]) -> None:
    once = {
        re.sub(r"\*+", "*", name): name for name in sorted(declared)
    }  # the same family twice is a finding
    known = {name: Parameter(name, Origin("p.yaml")) for name in once.values()}
    declarations = Declarations(known, {})
    exact = [name for name, one in known.items() if not one.pattern]
    made = family_patterns(declarations.families, exact)
    for name in names:
        found = [family.name for pattern, family in made.items() if re.search(pattern, name)]
        owner = declarations.find(name)
        assert found == ([owner.name] if owner is not None and owner.pattern else [])


def test_what_an_instance_completes_is_in_no_family() -> None:
    made = family_patterns([Parameter("SLOT_*", Origin("p.yaml"))], [])
    assert [bool(re.search(pattern, "SLOT_${as}")) for pattern in made] == [False]
    assert [bool(re.search(pattern, "SLOT_1")) for pattern in made] == [True]
