"""What formats say they can carry, the judge finds nothing in: every format's writer against its parser."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gitcfg.check.target_parsers import Meant
from gitcfg.parsers.parsers import Parsers
from gitcfg.render.formats import formats
from tests.parsers.oracle import judged, needs_htcondor
from tests.render import test_formats_condor, test_formats_flat, test_formats_nesting
from tests.render.test_formats_flat import SEPARATORS, params

once = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


def nothing_is_wrong(parsers: Parsers, format: str, values: dict[str, Any], separator: str) -> None:
    separators = dict.fromkeys(values, separator)
    refused = {name for unfit in formats()[format].unfit(values, separators) for name in unfit.subjects}
    left = {name: value for name, value in values.items() if name not in refused and value is not None}
    text = formats()[format].write(left, separators)
    found = judged(parsers, format, text, Meant(left, separators))
    assert [verdict for verdict in found if "circle" not in verdict.reason] == []


@needs_htcondor
@once
@given(values=params(test_formats_condor.NAMES), separator=SEPARATORS)
def test_condor(parsers: Parsers, values: dict[str, Any], separator: str) -> None:
    nothing_is_wrong(parsers, "condor", values, separator)


@once
@given(values=params(test_formats_flat.INI_NAMES), separator=SEPARATORS)
def test_ini(parsers: Parsers, values: dict[str, Any], separator: str) -> None:
    nothing_is_wrong(parsers, "ini", values, separator)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "toml", "yaml"])
@once
@given(values=test_formats_nesting.PARAMS)
def test_what_nests(parsers: Parsers, format: str, values: dict[str, Any]) -> None:
    nothing_is_wrong(parsers, format, values, "comma")
