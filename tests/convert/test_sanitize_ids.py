"""Other commits and public keys have the same form, are equal for equal ones, and give nothing away."""

import re

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.convert.sanitize.numbers import IdPseudonyms
from gitcfg.load.keys import public_key, written
from tests.properties.runs import QUICK

COMMITS = st.text("0123456789abcdef", min_size=7, max_size=32)


@QUICK
@given(COMMITS, COMMITS)
def test_commits_that_begin_alike_still_do(one: str, other: str) -> None:
    ids = IdPseudonyms(b"key")
    made = [ids.replace_commit(text) or "" for text in (one, one + other, one[:7])]
    assert all(re.fullmatch("[0-9a-f]+", text) for text in made)
    assert [len(text) for text in made] == [len(one), len(one + other), 7]
    assert made[0].startswith(made[2])
    assert (ids.replace_commit(one) == ids.replace_commit(other)) == (one == other)


@QUICK
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_keys_are_keys(one: bytes, other: bytes) -> None:
    ids = IdPseudonyms(b"key")
    made = [ids.replace_public_key(written(key)) or "" for key in (one, other)]
    assert public_key(made[0]) not in (None, one)
    assert (made[0] == made[1]) == (one == other)
    assert made[0] != IdPseudonyms(b"another").replace_public_key(written(one))


def test_what_is_none_stays_none() -> None:
    ids = IdPseudonyms(b"key")
    assert ids.replace_commit("main") is None
    assert ids.replace_commit("3f2a") is None
    assert ids.replace_public_key("ssh-ed25519 AAAA") is None
