"""Values that are spliced from pieces are those that are composed."""

import json

import msgspec
import pytest

from gitcfg.render.params import members, plain
from tests.compile.fleets import fleets


@pytest.mark.parametrize("seed", range(12))
def test_spliced_values_are_composed_values(seed: int) -> None:
    fleet = next(fleets(range(seed, seed + 1)))
    for name, text in members(fleet, fleet.names, 4):
        node = fleet[name]
        assert json.loads(text) == {"features": list(node.features), "params": dict(node.params)}
        assert list(json.loads(text)["params"]) == sorted(node.params)


def test_the_text_is_indented_as_other_records_are() -> None:
    fleet = next(fleets(range(5, 6)))
    nodes = {name: {"features": fleet[name].features, "params": fleet[name].params} for name in fleet.names}
    whole = msgspec.json.format(msgspec.json.encode({"nodes": nodes}), indent=2).decode()
    spliced = (f'\n    "{name}": {text}' for name, text in members(fleet, fleet.names, 4))
    assert '{\n  "nodes": {' + ",".join(spliced) + "\n  }\n}" == whole


def test_plain_lines() -> None:
    fleet = next(fleets(range(7, 8)))
    for name, text in plain(fleet, fleet.names):
        lines = [
            f"{param} = {value if isinstance(value, str) else msgspec.json.encode(value).decode()}\n"
            for param, value in fleet[name].params.items()
        ]
        assert text == "".join(lines)
