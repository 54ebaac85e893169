"""Logs agree with brute force over every commit, whatever the history."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from gitcfg import in_memory
from gitcfg.comparison.change import Kind
from gitcfg.generate.options import Options
from gitcfg.generate.repository import repository
from gitcfg.git.history import History
from gitcfg.git.repository import Repository
from gitcfg.history.effect import Effect, NodeCount
from gitcfg.history.log import Question, Subject, steps
from gitcfg.nodeset import expand
from tests.history.histories import Version, histories, history, imported
from tests.history.oracle import Oracle, as_json
from tests.history.runs import FEW, MANY
from tests.properties.strategies import Files

QUESTIONS = (
    *(Question(Subject.NODE, name) for name in ("n1", "n2", "n3", "s1", "s2", "s4", "N2")),
    *(Question(Subject.NODE, node, param) for node, param in (("n1", "STR"), ("s2", "LIS"), ("n3", "UND"))),
    *(
        Question(Subject.PARAM, name)
        for name in ("STR", "INT", "LIS", "EXP", "UND", "FAM_a", "INS_x", "FAM_*")
    ),
    *(Question(Subject.FEATURE, name) for name in ("A", "C", "E", "T", "I")),
    *(Question(Subject.GROUP, name) for name in ("G", "H", "default")),
)


def agrees(versions: list[Version], questions: tuple[Question, ...] = QUESTIONS) -> None:
    with TemporaryDirectory() as folder, closing(Oracle()) as oracle:
        ids = imported(Path(folder) / "r.git", versions)
        commits = History(Repository.open(Path(folder) / "r.git"))
        for question in questions:
            found = {step.commit: step.effect for step in steps(commits, question, ids[-1])}
            results = [oracle.result(question, version.files) for version in versions]
            for number, version in enumerate(versions):
                before = [results[parent] for parent in version.parents] or [{}]
                changed = ids[number] in reached(ids, versions) and all(
                    results[number] != other for other in before
                )
                place = (question, number)
                assert (ids[number] in found) == changed, place
                if changed:
                    effect_is(found[ids[number]], before[0], results[number], place)


def reached(ids: list[str], versions: list[Version]) -> set[str]:
    """The commits that the tip comes after, and itself."""
    todo, found = [len(ids) - 1], set[int]()
    while todo:
        number = todo.pop()
        if number not in found:
            found.add(number)
            todo += versions[number].parents
    return {ids[number] for number in found}


def effect_is(effect: Effect, old: Mapping[Any, Any], new: Mapping[Any, Any], place: object) -> None:
    kind = Kind.CHANGED if old and new else Kind.ADDED if new else Kind.REMOVED
    assert effect.kind is kind, place
    changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)} - {"there"}
    assert set(told(effect)) == changed, place
    for name, delta in effect.params.items():
        for side, value in ((old, delta.old), (new, delta.new)):
            given = side.get(("params", name))
            assert given is None or as_operations(given) == value_as_json(value), place


def as_operations(given: bytes) -> bytes:
    return given


def value_as_json(value: Any) -> bytes:
    if (
        isinstance(value, list)
        and value
        and isinstance(value[0], dict)
        and value[0].keys() == {"op", "given"}
    ):
        return as_json([[step["op"], step["given"]] for step in value])
    return as_json(value)


def told(effect: Effect) -> Iterator[tuple[str, str]]:
    """What an effect names, by kind."""
    yield from (("params", name) for name in effect.params)
    yield from (("files", path) for path in effect.files)
    yield from (("declaration", key) for key in effect.declaration)
    for kind, names in (("features", effect.features), ("groups", effect.groups)):
        yield from ((kind, name) for name in (*names.added, *names.removed))
    for held in (effect.added, effect.removed):
        yield from (("nodes", name) for name in members(held))
    for turn in effect.values:
        yield from (("values", name) for name in members(NodeCount(turn.nodeset, turn.count)))


def members(held: NodeCount | None) -> tuple[str, ...]:
    names = expand(held.nodeset, 1000) if held else ()
    assert len(names) == (held.count if held else 0)
    return names


@FEW
@given(versions=histories())
def test_logs_agree_with_brute_force(versions: list[Version]) -> None:
    agrees(versions)


@pytest.mark.slow
@MANY
@given(versions=histories(20, 40))
def test_logs_of_long_histories_agree_with_brute_force(versions: list[Version]) -> None:
    agrees(versions)


@pytest.mark.parametrize("seed", range(3))
def test_logs_of_generated_repositories_agree_with_brute_force(seed: int) -> None:
    sizes = Options(
        nodes=9, groups=4, features=8, parameters=20, set_size=2, sets=0.5, instances=0.2, secrets=3
    )
    worlds = [dict(repository(replace(sizes, seed=number))) for number in (seed, seed + 10)]
    versions = history(worlds, Random(seed), 30)
    agrees(versions, tuple(some_questions(versions[-1].files, Random(seed))))


def some_questions(files: Files, rng: Random) -> Iterator[Question]:
    """Questions about what there is in a repository."""
    fleet = in_memory(files)
    nodes, bound = sorted(fleet), sorted({name for node in fleet.values() for name in node.params})
    few = rng.sample(nodes, min(2, len(nodes)))
    yield from (Question(Subject.NODE, name) for name in rng.sample(nodes, min(3, len(nodes))))
    yield from (Question(Subject.NODE, name, rng.choice(bound)) for name in few)
    yield from (Question(Subject.PARAM, name) for name in rng.sample(bound, min(5, len(bound))))
    yield from (Question(Subject.FEATURE, name) for name in sorted(fleet.compiled.model.features)[-4:])
    yield from (Question(Subject.GROUP, name) for name in sorted(fleet.compiled.model.groups))
