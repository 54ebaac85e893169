"""Whether HTCondor reads a text as it is written is asked quickly, and never said of one that it does not."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitcfg.check.target_parsers import Meant, Question, Verdicts
from gitcfg.parsers.child.condor import _leading, _setting, circles
from gitcfg.parsers.parsers import Parsers, plain
from gitcfg.render.formats import formats
from tests.parsers.oracle import judged, needs_htcondor
from tests.parsers.test_circles import FILES
from tests.render import test_formats_condor
from tests.render.test_formats_flat import SEPARATORS, params

once = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers(1) as parsers:
        yield parsers


def lines(values: Mapping[str, Any], separators: Mapping[str, str | None]) -> dict[str, str]:
    return {name: formats()["condor"].write({name: value}, separators) for name, value in values.items()}


def asked(parsers: Parsers, text: str, values: Mapping[str, Any], plain: bool) -> Verdicts:
    (verdicts,) = parsers.judge([Question("condor", text, lambda: Meant(values), plain)])
    return verdicts


@needs_htcondor
@once
@given(values=params(test_formats_condor.NAMES), separator=SEPARATORS)
def test_what_is_carried_is_plain_and_gets_the_same_verdicts(
    parsers: Parsers, values: dict[str, Any], separator: str
) -> None:
    separators: dict[str, str | None] = dict.fromkeys(values, separator)
    refused = {name for unfit in formats()["condor"].unfit(values, separators) for name in unfit.subjects}
    left = {name: values[name] for name in sorted(values) if name not in refused}
    written = lines(left, separators)
    assert all(plain("condor", line, name, left[name], separator) for name, line in written.items())
    text = "".join(written.values())
    assert text == formats()["condor"].write(left, separators)
    (quick,) = parsers.judge([Question("condor", text, lambda: Meant(left, separators), True)])
    assert quick == judged(parsers, "condor", text, Meant(left, separators))


VALUES = st.sampled_from(
    ["x", "true", "TRUE", "a = b", "$(A)", "$(A) x", "x $(a) y", "$(B)", "$INT(C)", "", "x =", "=", "é", "#"]
)


@needs_htcondor
@once
@given(st.dictionaries(st.sampled_from(["A", "B", "C", "USE_SHARED_PORT", "schedd.A"]), VALUES))
def test_a_text_of_odd_values_gets_the_same_verdicts(parsers: Parsers, values: dict[str, str]) -> None:
    text = "".join(lines(dict(sorted(values.items())), {}).values())
    assert asked(parsers, text, values, True) == asked(parsers, text, values, False)


@needs_htcondor
@pytest.mark.parametrize(
    "text",
    [
        "A = x\\\nB = 2\n",
        "A = 1\nA = 2\n",
        "A = 1\nB = 1\nb = 2\n",
        "A = 1\nnonsense\n",
        "if true\nA = 1\nendif\n",
        "if false\nA = 1\nendif\n",
        "A =  1\n",
        "A = 1 \n",
        "A=1\n",
        "A = 1",
        "A = $(B)\nB = $(A)\n",
        "A = \xa0\nB = x\x0c\n",
        "USE_SHARED_PORT = True\nA = $(A:1)\n",
    ],
)
def test_what_is_not_read_as_it_is_written_is_looked_at_in_full(parsers: Parsers, text: str) -> None:
    values = {
        name: value for name, _, value in (line.partition(" = ") for line in text.splitlines()) if value
    }
    assert asked(parsers, text, values, True) == asked(parsers, text, values, False)


@needs_htcondor
def test_what_is_read_as_it_is_written_needs_no_values(parsers: Parsers) -> None:
    def values() -> Meant:
        raise AssertionError

    texts = ["A = 1\nB = x y\n", "B =\na = TRUE\n", "USE_SHARED_PORT = TRUE\nA = $(A) x\nC = $(A)\n", ""]
    assert list(parsers.judge(Question("condor", text, values, True) for text in texts)) == [()] * 4


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A = 1\n", 2),
        ("A = 1\n", "1 "),
        ("A = x\nB = y\n", "x"),
        ("A = x\n\n", "x"),
        ("A = x", "x"),
        ("A=x\n", "x"),
        ("AB = x\n", "x"),
        ("A =\n", "x"),
        ("A = x, y\n", ["x"]),
        ("A = $(B),$(C)\n", ["$(B)", "$(C)"]),
        ("", "x"),
    ],
)
def test_lines_that_do_not_say_their_value_are_not_plain(line: str, value: Any) -> None:
    assert not plain("condor", line, "A", value, None)
    assert not plain("ini", "A = x\n", "A", "x", None)


@given(FILES)
def test_circles_depend_on_few_lines(values: dict[str, str]) -> None:
    text = "".join(lines(values, {}).values())
    assert any(circles(values)) == any(circles(dict(map(_setting, _leading(text)))))
