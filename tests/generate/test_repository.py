"""Generated repositories: the same from the same seed, of the size that was asked for, one file at a time."""

import json
import random
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from gitcfg.generate import (
    PROFILES,
    Operations,
    Options,
    Types,
    files,
    large,
    repository,
    small,
    stress,
    write,
)
from gitcfg.model import GitcfgError
from tests.reference import evaluate, read_repository
from tests.reference.layers import layers, overrides
from tests.reference.operations import operation

ROOT = Path(__file__).parents[2]
replace = msgspec.structs.replace


def test_same_seed_gives_same_bytes_and_another_seed_does_not() -> None:
    assert list(files(Options(seed=1))) == list(files(Options(seed=1)))
    assert repository(Options(seed=1)) != repository(Options(seed=2))


def test_hash_seed_changes_nothing() -> None:
    code = "import json; from gitcfg.generate import *; print(json.dumps(list(files(Options(seed=1)))))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2")
    }
    assert answers == {json.dumps(list(files(Options(seed=1)))) + "\n"}


def test_global_randomness_is_left_alone() -> None:
    state = random.getstate()
    repository(Options())
    assert random.getstate() == state


def test_more_nodes_leave_the_others_as_they_were() -> None:
    few, many = repository(Options(nodes=10, sets=0)), repository(Options(nodes=20, sets=0))
    assert few.items() <= many.items() | {(path, few[path]) for path in few if path.startswith("overrides/")}


def test_files_come_one_after_another() -> None:
    stream = files(replace(large(), nodes=10**9))
    assert len(list(islice(stream, 2000))) == 2000


def test_written_files_are_those_of_the_repository(tmp_path: Path) -> None:
    options = Options(seed=3)
    count = write(options, tmp_path)
    written = {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert written == repository(options)
    assert count == len(written)


def test_sizes_are_as_asked() -> None:
    options = Options(nodes=40, groups=8, features=20, parameters=90, memberships=4, overrides=3, files=5)
    made = read_repository(repository(options))
    patterns = [name for name in made.parameters if "*" in name]
    assert len(made.names) == 40
    assert len(made.groups) == 8 + 1
    assert len(made.features) == 20
    assert len(made.parameters) - len(patterns) == 90
    assert len(made.overrides) == 3
    assert len(made.groups["default"]["files"]) == 5
    assert {len(node["groups"]) for node in made.nodes.values() if "groups" in node} == {4}


def test_shares_are_as_asked() -> None:
    options = Options(nodes=200, sets=0.5, set_size=10, set_files=1, identity=0, without=0, overrides=0)
    made = read_repository(repository(options))
    assert len(made.members) == 100
    assert len(made.sets) == 10
    assert len(made.nodes) == 200
    alone = [node for name, node in made.nodes.items() if name not in made.members]
    assert not any(node.get("params") or node.get("features") for node in alone)


@pytest.mark.parametrize("name", Operations.__struct_fields__)
def test_weight_of_an_operation_counts(name: str) -> None:
    only = Operations(**{field: 70.0 * (field == name) for field in Operations.__struct_fields__})
    options = Options(operations=only, types=Types(list=30, map=30, expression=30), instances=0)
    bodies = read_repository(repository(options)).bodies
    written = {"conjunction": "and", "disjunction": "or"}.get(name, name)
    found = {operation(raw)[0] for body in bodies for raw in body.get("params", {}).values()}
    assert written in found
    assert found <= {written, "set"}


def test_conflicts_and_dependences_are_as_asked() -> None:
    made = read_repository(repository(Options(groups=8, features=30, depends=6, conflicts=3)))
    for kind in (made.features, made.parameters):
        assert sum(len(one.get("depends", [])) for one in kind.values()) == 6
        assert sum(len(one.get("conflicts", [])) for one in kind.values()) == 3


def test_instances_are_installed_at_all_places_that_can_have_them() -> None:
    made = read_repository(repository(Options(features=20, instances=0.2, instance_count=2, groups=6)))
    bodies = [("features", body) for body in made.groups.values()]
    bodies += [("include", body) for body in made.features.values()]
    places = Counter(key for key, body in bodies for entry in body.get(key, []) if isinstance(entry, dict))
    assert places["include"]
    assert places["features"] >= 2


def test_overrides_apply_to_a_node() -> None:
    made = read_repository(repository(Options(overrides=2)))
    assert sum(len(overrides(made, node)) for node in made.names) == 2


@pytest.mark.parametrize(
    ("options", "params", "steps"),
    [(small(), (40, 65), (20, 40)), (large(), (400, 600), (120, 180)), (stress(), (455, 485), (90, 110))],
    ids=list(PROFILES),
)
def test_profiles_have_their_shape(options: Options, params: tuple[int, int], steps: tuple[int, int]) -> None:
    made = read_repository(repository(replace(options, nodes=10)))
    for node in made.names:
        assert params[0] <= len(evaluate(made, node).params) <= params[1]
        assert steps[0] <= len(list(layers(made, node))) <= steps[1]


@pytest.mark.parametrize(
    "options",
    [
        Options(nodes=-1),
        Options(sets=1.5),
        Options(set_size=0),
        Options(groups=1, memberships=2),
        Options(groups=2, memberships=2, conflicts=1),
        Options(features=3, conflicts=2),
        Options(operations=Operations(set=-1)),
        Options(mistakes=("GC999",)),
    ],
)
def test_impossible_options_are_refused_at_once(options: Options) -> None:
    with pytest.raises(GitcfgError):
        files(options)


@pytest.mark.parametrize(
    "options",
    [
        Options(nodes=0),
        Options(features=0, conflicts=0, instances=0),
        Options(parameters=0, conflicts=0),
        Options(groups=0, memberships=0, conflicts=0),
        Options(groups=3, memberships=0),
        Options(features=2, include_depth=9, conflicts=0, instances=1),
        Options(set_size=1, sets=1),
    ],
)
def test_small_figures_are_possible(options: Options) -> None:
    made = read_repository(repository(options))
    assert len(made.names) == options.nodes
