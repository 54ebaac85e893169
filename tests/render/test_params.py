"""Values that are spliced from pieces are those that are composed."""

import json

import msgspec
import pytest

from gitcfg.render.files import format_json, format_plain
from tests.compile.fleets import fleets


@pytest.mark.parametrize("seed", range(12))
def test_spliced_values_are_composed_values(seed: int) -> None:
    fleet = next(fleets(range(seed, seed + 1)))
    for name, text in format_json(fleet, fleet.names):
        node = fleet[name]
        assert json.loads(text) == {"features": list(node.features), "params": dict(node.params)}
        assert list(json.loads(text)["params"]) == sorted(node.params)


def test_a_node_is_one_line() -> None:
    fleet = next(fleets(range(5, 6)))
    assert all(b"\n" not in text for _, text in format_json(fleet, fleet.names))


def test_plain_lines() -> None:
    fleet = next(fleets(range(7, 8)))
    for name, text in format_plain(fleet, fleet.names):
        lines = [
            f"{param} = {value if isinstance(value, str) else msgspec.json.encode(value).decode()}\n"
            for param, value in fleet[name].params.items()
        ]
        assert text == "".join(lines)
