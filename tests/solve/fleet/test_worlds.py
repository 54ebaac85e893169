"""Worlds of the naive checker are decided: what is decided is right to it, and to `gitcfg check`."""

from collections.abc import Collection
from random import Random
from typing import Any

import pytest

from gitcfg.edit.decision import put_allocations
from gitcfg.edit.draft import Draft
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load
from gitcfg.solve.fleet import Solved, Unsolved, decide
from tests.check.rules.naive import Data, Naive, files
from tests.check.rules.worlds import corrupted, told, world
from tests.compile.fleets import TODAY
from tests.seeds import many
from tests.solve.fleet import trying

DECIDED = ("GC401", "GC403", "GC404")
"""What may not be wrong any more; invariants judge what comes of it."""


def decided(made: Data) -> tuple[Data, Unsolved | None]:
    """A world with what is decided for it."""
    tree = DictTree(files(made))
    draft = Draft(tree)
    found = decide(draft.model, tree, TODAY)
    if not isinstance(found, Solved):
        return made, found
    put_allocations(draft, draft.model.allocations, found.allocations)
    said: dict[str, Any] = {}
    for name, one in load(draft.tree).allocations.items():
        values = {
            slot: {key: bound.given for key, bound in given.items()} for slot, given in one.values.items()
        }
        places = [ref.name for ref in one.install]
        said[name] = ({"install": places} if places else {}) | ({"values": values} if values else {})
    return {**made, "allocations": said}, None


@pytest.mark.parametrize("seed", many(0, 150))
def test_what_is_decided_is_right_and_stays(seed: int) -> None:
    made, unsolved = decided(world(seed))
    if unsolved is not None:
        return
    wrong = dict(Naive(made).judge())
    assert not [code for code, _ in wrong if code in DECIDED]
    assert told(made) == wrong
    assert decided(made) == (made, None)


@pytest.mark.parametrize("seed", many(0, 150))
def test_there_is_an_answer_where_trying_everything_finds_one_and_none_is_closer(seed: int) -> None:
    made = world(seed)
    if len(trying.spots(made)) > trying.MOST:
        return
    found, unsolved = decided(made)
    all_of_them, previous = list(trying.placements(made)), trying.standing(made)
    costs = {one: (len(one ^ previous), len(one)) for one in all_of_them}
    best = {one for one, cost in costs.items() if cost == min(costs.values())}
    if unsolved is None:
        assert trying.placed(found) in best
        assert trying.values_can_be(found)
    else:
        assert not best or not all(trying.values_can_be(trying.placing(made, one)) for one in best)


@pytest.mark.parametrize("seed", many(0, 150))
def test_without_the_rule_that_is_suggested_all_can_be_decided(seed: int) -> None:
    made = world(seed)
    unsolved = decided(made)[1]
    if unsolved is None:
        return
    lifting = {
        name for name in made["rules"] if decided(_rules(made, made["rules"].keys() - {name}))[1] is None
    }
    if unsolved.suggestion is None:
        assert not lifting
    else:
        assert unsolved.suggestion.rule in {cause.rule for cause in unsolved.causes}
        assert unsolved.suggestion.rule in lifting if unsolved.suggestion.rule else lifting


@pytest.mark.parametrize("seed", many(0, 150))
def test_rules_that_cannot_hold_together_can_without_any_one_of_them(seed: int) -> None:
    """Or others cannot: what is there by hand stays, and what was chosen before is asked anew."""
    made = world(seed)
    unsolved = decided(made)[1]
    if unsolved is None or _chosen(unsolved):
        return
    plain = {name for name, rule in made["rules"].items() if "install" in rule and "count" not in rule}
    named = {cause.rule for cause in unsolved.causes if cause.rule is not None}
    assert named
    assert decided(_rules(made, plain | named))[1] is not None
    for name in named:
        again = decided(_rules(made, (plain | named) - {name}))[1]
        assert again is None or not set(again.causes) <= set(unsolved.causes), name


def _chosen(unsolved: Unsolved) -> bool:
    """Is something among them that was placed in an earlier stratum?"""
    places = (place for cause in unsolved.causes for place in cause.origins)
    return any(place.file.startswith("allocations/") for place in places)


def _rules(made: Data, names: Collection[str]) -> Data:
    """A world with some of its rules."""
    return {
        **made,
        "rules": {name: said for name, said in made["rules"].items() if name in names},
        "allocations": {name: said for name, said in made["allocations"].items() if name in names},
    }


@pytest.mark.parametrize("seed", many(0, 150))
def test_no_corruption_of_what_is_decided_escapes(seed: int) -> None:
    """Decided from nothing: no line of it can be spared."""
    made, unsolved = decided({**world(seed), "allocations": {}})
    if unsolved is not None or not made["allocations"]:
        return
    right = told(made)
    wrong = corrupted(Random(seed), made)
    assert told(wrong) == dict(Naive(wrong).judge())
    assert told(wrong) != right
