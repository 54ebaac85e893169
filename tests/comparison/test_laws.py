"""The laws of comparing: nothing is lost or invented, and there is a way back."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from msgspec import UNSET

import gitcfg
from gitcfg.comparison.change import Change, Delta, Kind, Names
from gitcfg.generate import Options, repository
from gitcfg.library import Fleet, Node
from tests.comparison.pairs import pairs
from tests.properties.runs import DEEP, QUICK

Pair = tuple[Mapping[str, str], Mapping[str, str]]


def by_node(changes: Iterable[Change]) -> dict[str, Change]:
    """Each node's own change."""
    found: dict[str, Change] = {}
    for change in changes:
        for name in change.nodes:
            assert name not in found, f"{name} is in two changes"
            found[name] = msgspec.structs.replace(change, nodes=(name,))
    return found


def json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def applied(params: Mapping[str, Any], change: Change | None) -> dict[str, bytes]:
    """A node's values after a change; what it says of the old ones is true."""
    result = {name: json(value) for name, value in params.items()}
    for name, delta in (change.params if change else {}).items():
        assert result.pop(name, None) == (None if delta.old is UNSET else json(delta.old))
        if delta.new is not UNSET:
            result[name] = json(delta.new)
    return result


def moved(names: Iterable[str], change: Names) -> set[str]:
    names = set(names)
    assert names.isdisjoint(change.added)
    assert names.issuperset(change.removed)
    return (names | set(change.added)) - set(change.removed)


def differing_files(old: Node | None, new: Node | None) -> tuple[str, ...]:
    """By rendering everything."""
    before = {path: file.digest for path, file in old.rendered.items()} if old else {}
    after = {path: file.digest for path, file in new.rendered.items()} if new else {}
    return tuple(sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p)))


def differing_modes(old: Node | None, new: Node | None) -> dict[str, Delta]:
    """Of mode, owner and group what differs of files that are on both sides."""
    before, after = (node.rendered if node else {} for node in (old, new))
    found = {}
    for path in before.keys() & after.keys():
        sides = [(side[path].mode, side[path].owner, side[path].group) for side in (before, after)]
        named = zip(("mode", "owner", "group"), *sides, strict=True)
        differ = [(what, was, is_) for what, was, is_ in named if was != is_]
        if differ:
            found[path] = Delta({w: was for w, was, _ in differ}, {w: is_ for w, _, is_ in differ})
    return found


def check_laws(old: Fleet, new: Fleet) -> None:
    """All of them, on two fleets."""
    changes = by_node(gitcfg.compare(old, new))
    back = by_node(gitcfg.compare(new, old))
    assert changes.keys() == back.keys()
    for name in {*old, *new}:
        before, after, change = old.get(name), new.get(name), changes.get(name)
        assert change is not None or (before and after), f"{name} is on one side and in no change"
        nothing = Names()
        assert applied(before.params if before else {}, change) == (
            applied(after.params if after else {}, None)
        )
        for what in ("features", "groups"):
            had, has = (set(getattr(node, what)) if node else set() for node in (before, after))
            assert moved(had, getattr(change, what) if change else nothing) == has
        assert (change.files if change else ()) == differing_files(before, after)
        assert {**(change.modes if change else {})} == differing_modes(before, after)
        if change:
            assert change.kind is (
                Kind.CHANGED if before and after else Kind.ADDED if after else Kind.REMOVED
            )
            reverse(change, back[name])
            alone = gitcfg.compare(old, new, [name])
            assert tuple(alone) == (change,)


def reverse(there: Change, back: Change) -> None:
    """What came goes, and the other way round."""
    kinds = {Kind.ADDED: Kind.REMOVED, Kind.REMOVED: Kind.ADDED, Kind.CHANGED: Kind.CHANGED}
    assert back.kind is kinds[there.kind]
    swapped = {name: (delta.new, delta.old) for name, delta in there.params.items()}
    assert {name: (delta.old, delta.new) for name, delta in back.params.items()} == swapped
    for what in ("features", "groups"):
        assert getattr(back, what).added == getattr(there, what).removed
        assert getattr(back, what).removed == getattr(there, what).added
    assert back.files == there.files


def laws(pair: Pair) -> None:
    old, new = pair
    with gitcfg.in_memory(old) as a, gitcfg.in_memory(new) as b, gitcfg.in_memory(old) as again:
        check_laws(a, b)
        assert not gitcfg.compare(a, again), "a fleet differs from itself"


@pytest.mark.slow
@QUICK
@given(pair=pairs())
def test_laws_hold(pair: Pair) -> None:
    laws(pair)


@pytest.mark.slow
@settings(DEEP, max_examples=100)
@given(pair=pairs())
def test_laws_hold_deeply(pair: Pair) -> None:
    laws(pair)


@pytest.mark.parametrize("seed", range(3))
def test_laws_hold_on_generated_fleets(seed: int) -> None:
    laws((repository(Options(seed=seed)), repository(Options(seed=seed, nodes=22, parameters=61))))
