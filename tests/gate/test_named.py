"""Names that two patterns have in common: judged by all short names that each stands for."""

from itertools import product

from gitcfg.gate.permits.rules import overlaps, to_glob
from gitcfg.model.names import glob

PATTERNS = ["".join(letters) for size in range(4) for letters in product("ab*?", repeat=size)]
NAMES = ["".join(letters) for size in range(7) for letters in product("ab", repeat=size)]


def test_two_patterns_meet_where_there_is_a_name_of_both() -> None:
    meant = {pattern: {name for name in NAMES if glob(pattern).matches(name)} for pattern in PATTERNS}
    for one, other in product(PATTERNS, repeat=2):
        assert overlaps(one, other) == bool(meant[one] & meant[other]), (one, other)


def test_what_instances_name_may_become_anything() -> None:
    assert to_glob("SLOT_${as}_${with.n}") == "SLOT_*_*"
    assert to_glob("$[as]") == "$[as]"
