"""What layers and operations make of a node, as the cases say: features, parameters and trails."""

from typing import Any

import pytest

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.operations import TrailStep
from tests.cases_format import Case, read_cases
from tests.cases_table import encoded

CASES = [
    case
    for folder in ("operations", "findings")
    for case in read_cases(folder)
    if case.cells or case.params or case.features or case.trails
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_nodes_are_those_of_the_case(case: Case) -> None:
    fleet = compile_tree(case.tree, case.today)
    for name, params in case.params.items():
        assert encoded(dict(fleet[name].params)) == encoded(params), name
    for name, features in case.features.items():
        assert list(fleet[name].features) == features, name
    wrong = [text for cell in case.cells if (text := cell.difference(fleet["n1"].params))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", [case for case in CASES if case.trails], ids=lambda case: case.name)
def test_trails_are_those_of_the_case(case: Case) -> None:
    fleet = compile_tree(case.tree, case.today)
    for (node, param), expected in case.trails.items():
        steps = _steps(fleet, node, param)
        judged = [
            {key: value for key, value in step.items() if key in wanted}
            for step, wanted in zip(steps, expected, strict=False)
        ]
        assert len(steps) == len(expected), (node, param, steps)
        assert encoded(judged) == encoded(expected), (node, param)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_value_is_its_last_steps_result(case: Case) -> None:
    fleet = compile_tree(case.tree, case.today)
    if any(parameter.unique for parameter in fleet.model.parameters.values()):
        return  # equal items go at the end, after the last step
    for name in fleet.names:
        for param, value in fleet[name].params.items():
            assert encoded(fleet[name].trail(param)[-1].result) == encoded(value), (name, param)


def _steps(fleet: Fleet, node: str, param: str) -> list[dict[str, Any]]:
    return [_plain(step) for step in fleet[node].trail(param)]


def _plain(step: TrailStep) -> dict[str, Any]:
    return {
        "op": step.op,
        "given": step.given,
        "result": step.result,
        "path": step.path,
        "overridden": step.overridden,
        "at": str(step.origin),
    }
