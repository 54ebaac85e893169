"""Allocations are written as they are read, one slot a line; files of rules that decide nothing are gone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.edit.decision import allocation_text, put_allocations
from gitcfg.edit.draft import Draft
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load
from gitcfg.model.rules import Allocation
from gitcfg.solve.fleet.answers import allocate_places
from gitcfg.solve.fleet.answers import allocate_values as allocated

TWO = """# What `gitcfg solve` decided for the rule two. Change the rule, not this file.
install:
  - gw1/eth0
  - gw2
  - gw10/eth1
"""
ADDRESSES = """# What `gitcfg solve` decided for the rule addresses. Change the rule, not this file.
values:
  gw1/eth0: {address: 134.58.39.1, vlan: 7}
  gw2: {address: "10"}
"""
_TWO = allocate_places("two", ["gw10/eth1", "gw1/eth0", "gw2"])
_ADDRESSES = allocated(
    "addresses", {"gw2": {"address": "10"}, "gw1/eth0": {"vlan": 7, "address": "134.58.39.1"}}
)


def read(*texts: tuple[str, str]) -> Draft:
    files = {f"allocations/{name}.yaml": text for name, text in texts}
    return Draft(DictTree({"gitcfg.yaml": "format: 1\n", **files}))


def put(draft: Draft, *made: Allocation) -> dict[str, str | None]:
    put_allocations(draft, draft.model.allocations, {one.name: one for one in made})
    return {path: None if text is None else text.decode() for path, text in draft.files.items()}


def test_a_slot_is_a_line_and_numbers_count_as_numbers() -> None:
    assert allocation_text(_TWO) == TWO
    assert allocation_text(_ADDRESSES) == ADDRESSES


def test_what_says_the_same_is_not_touched() -> None:
    commented = TWO.replace("  - gw2\n", "  - gw2  # the new one\n")
    assert put(read(("two", commented)), _TWO) == {}
    merged = TWO.replace("  - gw2\n", "") + "  - gw2\n"
    assert put(read(("two", merged)), _TWO) == {"allocations/two.yaml": TWO}


def test_files_of_rules_that_decide_nothing_any_more_are_gone() -> None:
    found = put(read(("two", TWO), ("addresses", ADDRESSES)), _ADDRESSES)
    assert found == {"allocations/two.yaml": None}


names = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,6}(/[A-Za-z0-9_.:-]{1,6})?", fullmatch=True)
values = st.one_of(
    st.integers(-5, 70000),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Cf", "Co"])),
)


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(names, unique=True), st.dictionaries(names, st.dictionaries(names, values, min_size=1)))
def test_what_is_written_is_read_again(slots: list[str], said: dict[str, dict[str, int | str]]) -> None:
    made = [allocate_places("a", slots)] if slots else []
    made += [allocated("b", said)] if said else []
    draft = read()
    put(draft, *made)
    model = load(draft.tree)
    assert not model.findings
    again = Draft(draft.tree)
    assert put(again, *made) == {}
    assert {name: [ref.name for ref in one.install] for name, one in model.allocations.items()} == {
        one.name: [ref.name for ref in one.install] for one in made
    }
    by_slot = model.allocations["b"].values if said else {}
    assert {slot: {name: bound.given for name, bound in of.items()} for slot, of in by_slot.items()} == said
