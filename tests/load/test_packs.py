"""Packs: what is kept says what reading the file would say, and nothing is read that is kept."""

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.git.tree import DictTree, Entry
from gitcfg.load import cache
from gitcfg.load.repository import load
from tests.load.keeping import KINDS, Dictionary, Watched, drawn, edited, read_at, said

seeds = st.integers(0, 10_000)


@settings(max_examples=40)
@given(seeds, seeds)
def test_a_pack_of_another_version_changes_nothing(seed: int, change: int) -> None:
    keeper, before = Dictionary(), drawn(seed)
    after = edited(before, change)
    assert read_at(before, keeper) == read_at(before)
    assert read_at(after, keeper) == read_at(after)
    assert read_at(before, keeper) == read_at(before)


@settings(max_examples=40)
@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(seed: int, chance: random.Random) -> None:
    keeper, files = Dictionary(), drawn(seed)
    if chance.random() < 0.5:
        read_at(edited(files, seed), keeper)
    model = load(DictTree(files), keeper)
    for _ in range(12):
        definitions = getattr(model, chance.choice(KINDS))
        unread = model.unread.get(chance.choice(KINDS), frozenset())
        name = chance.choice([*definitions, "nowhere"])
        question = chance.randrange(6)
        if question == 0:
            assert (definitions.get(name) is None) == (name not in definitions)
        elif question == 1:
            assert len(list(definitions.values())) == len(definitions)
        elif question == 2:
            assert (name in unread) == (name in list(unread))
        elif question == 3:
            assert bool(model.unread) == (len(model.unread) > 0)
    assert said(model) == read_at(files)


@settings(max_examples=20)
@given(seeds)
def test_nothing_is_read_twice_nor_written_twice(seed: int) -> None:
    keeper, files = Dictionary(), drawn(seed)
    read_at(files, keeper)
    written, tree = keeper.written, Watched(files)
    said(load(tree, keeper))
    assert tree.reads == ["gitcfg.yaml"]
    assert keeper.written == written


@settings(max_examples=20)
@given(seeds, seeds)
def test_to_and_fro_between_two_versions_reads_each_file_once(seed: int, change: int) -> None:
    keeper, before = Dictionary(), drawn(seed)
    after = edited(before, change)
    read_at(before, keeper)
    tree = Watched(after)
    said(load(tree, keeper))
    new = {path for path in after if path not in before or after[path] != before[path]}
    assert set(tree.reads) <= new | {"gitcfg.yaml"}
    written = keeper.written
    for files in (before, after, before):
        tree = Watched(files)
        said(load(tree, keeper))
        assert tree.reads == ["gitcfg.yaml"]
    assert keeper.written == written


def test_what_was_read_in_part_is_not_written_and_loses_nothing() -> None:
    keeper, files = Dictionary(), drawn(1)
    read_at(files, keeper)
    written = keeper.written
    name = next(path for path in files if path.startswith("nodes/"))
    model = load(DictTree(files | {name: "description: other\n"}), keeper)
    assert model.nodes[name.rpartition("/")[2].removesuffix(".yaml")].description == "other"
    assert keeper.written == written
    tree = Watched(files)
    said(load(tree, keeper))
    assert tree.reads == ["gitcfg.yaml"]


@pytest.mark.parametrize(
    "body", [None, 7, [], [None], ["x", [], False], [[], 1, 2], [["x"], [], False], "x", b""]
)
def test_a_body_that_is_none_is_read_anew(body: Any) -> None:
    keeper, files = Dictionary(), drawn(2)
    right, encoded = read_at(files, keeper), msgspec.msgpack.encode(body) if body != b"" else b""
    for question, bodies in keeper.bodies().items():
        keeper.answers[question] = msgspec.msgpack.encode(dict.fromkeys(bodies, encoded))
    assert read_at(files, keeper) == right
    tree = Watched(files)
    said(load(tree, keeper))
    assert tree.reads == ["gitcfg.yaml"]


@pytest.mark.parametrize("length", [0, 1, 0.3, 0.9])
def test_an_answer_that_is_cut_short_is_none(length: float) -> None:
    keeper, files = Dictionary(), drawn(2)
    right = read_at(files, keeper)
    for question, data in keeper.answers.items():
        keeper.answers[question] = data[: int(length if length >= 1 else len(data) * length)]
    assert read_at(files, keeper) == right


@pytest.mark.parametrize("change", ["default_group: g", "max_nodes: 3"])
def test_what_settings_decide_is_not_taken_from_a_pack_of_others(change: str) -> None:
    keeper = Dictionary()
    files = {
        "gitcfg.yaml": "format: 1\n",
        "groups/g.yaml": "{}\n",
        "nodes/n.yaml": "groups: [g]\n",
        "nodesets/s.yaml": "nodes: m[1-5]\ngroups: [g]\n",
        "overrides/o.yaml": "nodes: n,m[1-5]\nreason: r\nuntil: 2099-01-01\n",
    }
    other = files | {"gitcfg.yaml": f"format: 1\n{change}\n"}
    assert read_at(files, keeper) != read_at(other, keeper) == read_at(other)
    assert read_at(files, keeper) == read_at(files)


VALUES = [
    *("0", "-1", "018", "0o17", "9223372036854775807", "-9223372036854775808", "18446744073709551615"),
    *("1.10", "-0.0", "1e300", ".inf", "-.inf", ".nan", "true", "FALSE", "null", "~", '""', "''", "text"),
    *('"\\ud7ff"', '"\\U0001F600"', '"\\0"', "[]", "[1, [2.0, x], {a: null}]", "{a: {b: [TRUE]}, c: 1}"),
    *("{$append: [1, x]}", "{$merge: {a: 1}}", "{$unset: true}", "{$fact: k}", "{$default: 0x1F}"),
]
ENDLESS = ["18446744073709551616", "-9223372036854775809", "9" * 300, "[1, {a: 99999999999999999999}]"]


@pytest.mark.parametrize("value", VALUES + ENDLESS)
def test_every_value_comes_back_as_it_was(value: str) -> None:
    keeper = Dictionary()
    plain = value if "$" not in value else "0"
    params = f"params: {{P: {value}}}\n"
    use = f'{{feature: F, as: "x[1-3]", with: {{a: {plain}}}}}'
    files = {
        "gitcfg.yaml": "format: 1\n",
        "features/F.yaml": params,
        "groups/g.yaml": f"{params}features: [{use}, F]\n",
        "nodes/n.yaml": f"{params}facts: {{k: {value}, l: x}}\nfeatures: {{$append: [{use}]}}\n",
        "overrides/o.yaml": f"{params}where: a\nreason: r\nuntil: 2099-01-01\nfeatures: [{use}]\n",
        "parameters/p.yaml": f"parameters: {{P: {{default: {plain}}}}}\n",
    }
    right = read_at(files)
    assert read_at(files, keeper) == right
    tree = Watched(files)
    assert said(load(tree, keeper)) == right
    assert (len(tree.reads) > 1) == (value in ENDLESS)


def test_instances_share_their_attributes_as_they_do_when_read() -> None:
    keeper = Dictionary()
    many = '{feature: F, as: "x[1-1000]", with: {a: 1, b: 2}}'
    files = {
        "gitcfg.yaml": "format: 1\n",
        "groups/g.yaml": f"features: [{many}, {{feature: F, as: y}}]\n",
    }
    for _ in range(2):
        uses = load(DictTree(files), keeper).groups["g"].features
        read_at(files, keeper)
        assert len(uses) == 1001
        assert len({id(use.attributes) for use in uses}) == 2


def test_what_is_kept_of_other_versions_has_an_end() -> None:
    keeper, files = Dictionary(), {"gitcfg.yaml": "format: 1\n"}
    for version in range(60):
        text = f"description: {str(version) * 10_000}\n"
        read_at(files | {"features/F.yaml": text}, keeper)
    assert sum(map(len, keeper.answers.values())) < 200_000


def test_many_files_are_kept_in_several_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_A_SHARD", 20)
    keeper = Dictionary()
    files = {f"nodes/n{number}.yaml": f"description: {number}\n" for number in range(50)}
    files["gitcfg.yaml"] = "format: 1\n"
    right = read_at(files, keeper)
    assert [len(bodies) > 5 for bodies in keeper.bodies().values()] == [True] * 4
    written = keeper.written
    assert read_at(files | {"nodes/n7.yaml": "description: seven\n"}, keeper) != right
    assert keeper.written == written + 1


class _Ended(BaseException):
    """What ends reading in its middle."""


@given(st.integers(1, 7))
def test_what_was_read_before_an_end_is_kept(count: int) -> None:
    class Ending(Watched):
        def read(self, entry: Entry) -> bytes:
            if sum(path.startswith("nodes/") for path in self.reads) == count:
                raise _Ended
            return super().read(entry)

    keeper = Dictionary()
    files = {"gitcfg.yaml": "format: 1\n"} | {f"nodes/n{n}.yaml": "groups: [g]\n" for n in range(8)}
    with pytest.raises(_Ended):
        load(Ending(files), keeper).nodes.values()
    tree = Watched(files)
    load(tree, keeper).nodes.values()
    assert tree.reads == ["gitcfg.yaml", *sorted(files)[count + 1 :]]
