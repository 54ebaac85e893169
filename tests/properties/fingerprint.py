"""Prints what gitcfg makes of the repositories on its standard input: run under several hash seeds."""

import json
import sys
from collections.abc import Mapping

import msgspec

from gitcfg.check.run import check
from gitcfg.compile.fleet import FleetNode
from tests.properties.laws import compiled


def fingerprint(files: Mapping[str, str]) -> str:
    """Every finding, and every node's features, parameters and trails, as JSON in the order they come."""
    fleet = compiled(files)
    nodes = {name: _node(fleet[name]) for name in fleet.names}
    return json.dumps([msgspec.to_builtins(check(fleet)), nodes])


def _node(node: FleetNode) -> list[object]:
    params = dict(node.params)
    return [node.features, params, {name: msgspec.to_builtins(node.trail(name)) for name in params}]


if __name__ == "__main__":
    sys.stdout.writelines(fingerprint(files) + "\n" for files in json.load(sys.stdin))
