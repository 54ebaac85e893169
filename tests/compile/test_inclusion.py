"""Places are counted before anything is composed, and the count is what composing gives."""

from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.git.tree import DictTree
from gitcfg.model import Use
from tests.compile.fleets import TODAY

NAMES = "ABCDE"
AS = st.sampled_from(
    ["x", "y[1-3]", "${as}a", "${as}[1-2]", "p${as},q${as}", "n[1-${with.n}]", "${with.n}", "[1-${as}]"]
)
GIVEN = st.sampled_from(["2", "3", "1-2", "${with.n}", "${as}", "4${with.n}"])


@st.composite
def includes(draw: st.DrawFn, plain: bool) -> dict[str, str]:
    """Features that include those after them, and now and then one before them, as instances or plainly."""
    files = {"gitcfg.yaml": "format: 1\nmax_places: 300\n"}
    for at, name in enumerate(NAMES):
        targets = st.sampled_from(NAMES[at + 1 :] + NAMES[draw(st.integers(0, 4)) :])
        listed = []
        for target in draw(st.lists(targets, max_size=3)):
            one: dict[str, Any] = {"feature": target}
            if not plain or draw(st.booleans()):
                one |= {"as": draw(AS), "with": {"n": draw(GIVEN)}}
            listed.append(one)
        files[f"features/{name}.yaml"] = msgspec.json.encode({"include": listed}).decode()
    return files


@settings(max_examples=60, deadline=None)
@given(includes(False), st.sampled_from(["2", "x"]))
def test_the_count_is_what_composing_gives(files: dict[str, str], instance: str) -> None:
    for count, made, most in counted(files, instance):
        assert count > most if made is None else count == made


@settings(max_examples=40, deadline=None)
@given(includes(True), st.sampled_from([None, "2", "x"]))
def test_no_more_is_composed_where_a_feature_lacks_its_instance(
    files: dict[str, str], instance: str | None
) -> None:
    for count, made, most in counted(files, instance):
        assert count > most if made is None else count >= made


def counted(files: dict[str, str], instance: str | None) -> Iterator[tuple[int, int | None, int]]:
    """Of each feature: the count, how many places are composed (None: it is refused), and the limit."""
    fleet = compile_tree(DictTree(files), TODAY)
    layers, places = fleet.layers, fleet.layers.places
    for name, feature in fleet.model.features.items():
        use = Use(name, feature.origin, instance)
        count, made = places.of(use), layers.feature(use)
        yield count, None if made is None else made.places, places.most


def listed(nodes: int, each: int) -> Fleet:
    """Nodes that list so many instances each, of which no two are the same."""
    files = {f"nodes/n{n}.yaml": f"features: [{{feature: S, as: 'n{n}_[1-{each}]'}}]\n" for n in range(nodes)}
    files |= {"gitcfg.yaml": "format: 1\n", "features/S.yaml": "params: {'P_${as}': x}\n"}
    return compile_tree(DictTree(files), TODAY)


def test_many_instances_of_nodes_pass() -> None:
    for fleet in (listed(20, 90), listed(2, 1000)):
        fleet.compile_layers()
        assert all(len(kind.params) in (90, 1000) for kind in fleet.classes)
        assert not fleet.layers.findings
