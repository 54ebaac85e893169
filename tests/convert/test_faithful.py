"""Every node of an imported dump gets what Wallaby would give it."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gitcfg.compile.fleet import compile_tree
from gitcfg.compile.values import split_list
from gitcfg.convert.wallaby.repository import import_wallaby
from gitcfg.git.tree import DictTree
from tests.convert.dumps import DEFAULT, dump, feature, group, node, parameter
from tests.convert.naive import Wallaby

DATA = Path(__file__).parents[3] / "shared" / "data"
POOLS = [DATA / name for name in ("pool-small.yaml", "pool-daemons.yaml")]


def comparable(value: Any, text: str) -> tuple[str, str]:
    """Both as text: lists without regard to blanks at their commas, booleans to their case."""
    if isinstance(value, list):
        return ", ".join(value), ", ".join(split_list(text, "comma"))
    if isinstance(value, bool):
        return str(value).lower(), text.lower()
    return "" if value is None else str(value), text


def differences(data: bytes) -> list[tuple[str, str, str, str]]:
    """Where a node's values differ from Wallaby's: node, parameter, ours, Wallaby's."""
    files = import_wallaby(data).files
    fleet = compile_tree(DictTree(files), date(2026, 1, 1))
    assert fleet.model.findings == ()
    result = []
    for name, wanted in Wallaby(data).nodes():
        params = fleet[name].params
        assert set(params) == set(wanted)
        for key, text in wanted.items():
            ours, theirs = comparable(params[key], text)
            if ours != theirs:
                result.append((name, key, ours, theirs))
    return result


def test_every_marker_on_every_ground() -> None:
    declarations = [
        parameter("LIST", default_val="d1, d2"),
        parameter("TERMS"),
        parameter("CHOICES"),
        parameter("WITH", default_val="d"),
        parameter("WITHOUT"),
        parameter("ASKED", must_change=True),
        parameter("LATE"),
        parameter("COUNT", kind="Integer", default_val="3"),
        parameter("SWITCH", kind="Boolean", default_val="False"),
    ]
    texts: dict[str, list[Any]] = {
        "list": ["a,b", ">= c", ">=d, e", "", 0, '>= $(F), "g, h"'],
        "TERMS": ["A", "&&= B", "&&=C", ""],
        "Choices": ["A", "||= B", ""],
        "WITH": ["x", 0, "", "y"],
        "WITHOUT": ["x", 0, "", "y"],
        "ASKED": ["x", 0, "", "y"],
        "LATE": ["?= x", "y", "?= z", ""],
        "COUNT": ["10", 0, "$(N)"],
        "SWITCH": ["TRUE", 0],
    }
    layers = [
        feature(f"{name}{place}", params={name: value})
        for name, values in texts.items()
        for place, value in enumerate(values)
    ]
    names = [layer["name"] for layer in layers]
    orders = [names, names[::-1], names[::2], names[1::2], names[::3], names[2::3][::-1], names[::5]]
    groups = [group(DEFAULT)] + [group(f"g{place}", features=order) for place, order in enumerate(orders)]
    nodes = [
        node(f"n{one}-{two}", membership=[f"g{one}", f"g{two}"])
        for one in range(len(orders))
        for two in range(len(orders))
        if one != two
    ]
    assert differences(dump(layers, groups, nodes, declarations)) == []


@pytest.mark.parametrize("path", POOLS, ids=lambda path: path.stem)
def test_real_pools(path: Path) -> None:
    if not path.exists():
        pytest.skip("the dumps are not here")
    assert differences(path.read_bytes()) == []
