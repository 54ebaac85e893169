"""Files put together from pieces are the files that their formats write of all values at once."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile import node_class as splice
from gitcfg.compile.fleet import Fleet, FleetNode, compile_tree
from gitcfg.generate import Options, Types, repository, small, stress
from gitcfg.git.tree import DictTree
from gitcfg.load.yaml import dump
from gitcfg.model import FileEntry
from gitcfg.render.files import find_separators, render_content, select_params
from gitcfg.render.formats import LineFormat, formats
from gitcfg.render.templates import TemplateEngine

TODAY = date(2026, 11, 20)
LINES = sorted(name for name, format in formats().items() if isinstance(format, LineFormat))
FILES = {
    "/etc/all": {"format": "condor", "params": ["*"]},
    "/etc/some": {"format": "env", "params": ["*A*", "!*B*"]},
    "/etc/tagged": {"format": "condor", "params": {"tags": ["x", "y"]}},
}


def at_once(fleet: Fleet, node: FleetNode, entry: FileEntry) -> str:
    """A file as its format writes all values, less those that it says it cannot carry."""
    chosen = formats()[entry.format or ""]
    values = select_params(fleet, entry, node.params)
    apart = find_separators(fleet, values)
    unfit = {unfit.subjects[-1] for unfit in chosen.unfit(values, apart)}
    return chosen.write({name: value for name, value in values.items() if name not in unfit}, apart)


def agree(files: Mapping[str, str]) -> int:
    """How many lines were compared."""
    fleet = compile_tree(DictTree(files), TODAY)
    assert not fleet.model.unread
    count = 0
    with TemplateEngine({}) as engine:
        for name in fleet.names:
            node = fleet[name]
            for entry in node.entries.values():
                if entry.format in LINES:
                    text = render_content(fleet, node, entry, engine)
                    assert text == at_once(fleet, node, entry), (name, entry.path)
                    count += text.count("\n")
    return count


def test_the_formats_of_lines_are_known() -> None:
    assert LINES == ["condor", "env"]


SHAPES = {
    "usual": Options(seed=1),
    "lists": Options(seed=3, types=Types(string=0, integer=0, list=50, expression=50, map=30)),
    "sets": Options(seed=4, sets=1, set_files=0.5, without=0.5, identity=0.8),
    "small": msgspec.structs.replace(small(5), nodes=20),
    "stress": msgspec.structs.replace(stress(6), nodes=3),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_on_generated_repositories(shape: str) -> None:
    files = dict(repository(SHAPES[shape]))
    for number, (path, entry) in enumerate(FILES.items()):
        files[f"overrides/zz{number}.yaml"] = dump(
            {"reason": "r", "until": "2030-01-01", "where": "true", "files": {path: entry}}
        )
    assert agree(files) > 20


def _append(value: Any) -> Any:
    return {"$append": value if isinstance(value, list) else [value or "x"]}


NAMES = st.sampled_from(["A", "a", "AB", "A.B", "A-B", "If", "include", "_", "UID", "A_9", "Z", "z"])
VALUES = st.one_of(
    st.sampled_from(["", " x", "a\nb", "end\\", "a, b", "$(X)", "TRUE", None, 1, True, False, 0.5, {"a": 1}]),
    st.lists(st.sampled_from(["a", "b c", "d,e", 1, True, {"x": 1}]), max_size=3),
)
BINDINGS = st.one_of(VALUES, st.just({"$fact": "site"}), st.just({"$unset": True}), VALUES.map(_append))


@given(
    layers=st.lists(st.dictionaries(NAMES, BINDINGS, max_size=6), min_size=2, max_size=4),
    most=st.sampled_from([1, 3, 1 << 16]),
)
def test_on_values_that_formats_refuse_and_names_that_are_alike(layers: list[Any], most: int) -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": dump(
            {
                "parameters": {
                    "A": {"type": "list", "separator": "blank-or-comma", "tags": ["x"]},
                    "Z": {"type": "list", "unique": True, "tags": ["y"]},
                    "AB": {"tags": ["z"]},
                }
            }
        ),
        "groups/default.yaml": dump({"files": FILES, "params": layers[0]}),
    }
    for number, params in enumerate(layers[1:]):
        files[f"nodes/n{number}.yaml"] = dump({"params": params, "facts": {"site": f"s{number}"}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splice, "MOST", most)
        agree(files)
