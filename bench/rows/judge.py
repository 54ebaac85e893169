"""Judges what a tool printed: the parameters of 200 random nodes against the reference, as JSON."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import msgspec

from bench.fleet import Fleet, params

COMPARED = 200


def sample(fleet: Fleet) -> list[str]:
    """The nodes that are compared."""
    return Random("compared").sample(list(fleet.nodes), min(COMPARED, len(fleet.nodes)))


def judge(fleet: Fleet, answers: Callable[[bytes], Mapping[str, msgspec.Raw]]) -> Callable[[Path], str]:
    """A judge of a fleet's whole answer; ValueError says what is wrong."""
    right = {name: _text(params(fleet, fleet.nodes[name])) for name in sample(fleet)}

    def judged(printed: Path) -> str:
        found = answers(printed.read_bytes())
        if found.keys() != fleet.nodes.keys():
            raise ValueError(f"{len(found)} nodes in the answer, {len(fleet.nodes)} in the fleet")
        wrong = [name for name, text in right.items() if _text(msgspec.json.decode(found[name])) != text]
        if wrong:
            raise ValueError(f"{len(wrong)} of {len(right)} nodes differ, first {wrong[0]}")
        return f"{len(right)}/{len(right)} of {len(found)}"

    return judged


def judge_one(fleet: Fleet, node: str, answer: Callable[[bytes], object]) -> Callable[[Path], str]:
    """A judge of one node's parameters."""
    right = _text(params(fleet, fleet.nodes[node]))

    def judged(printed: Path) -> str:
        if _text(answer(printed.read_bytes())) != right:
            raise ValueError(f"{node} differs")
        return "1/1"

    return judged


def _text(value: object) -> str:
    """True is not 1 here, nor 1 the same as 1.0."""
    return json.dumps(value, sort_keys=True)
