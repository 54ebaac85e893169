"""Each format's parser accepts what is right, finds what is wrong, and never takes others with it."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gitcfg.check.target_parsers import Meant, Question, Verdict
from gitcfg.parsers import parsers as parsers_module
from gitcfg.parsers.parsers import Parsers
from gitcfg.render.formats import formats
from tests.parsers.oracle import judged, needs_htcondor

VALUES: dict[str, dict[str, Any]] = {
    "condor": {
        "A": "$(B) x",
        "B": ["x", 1, False],
        "C.d": 0.5,
        "E": "",
        "F": True,
        "NEGOTIATOR_INTERVAL": 60,
    },
    "ini": {"a": "x = y", "s.b": ["x", 1, False], "s.t.c": 0.5, "e": "", "f": True},
    "json": {"a": "x", "b.c": [1, None, {"d": 0.5}], "b.e": {}, "f": True, "g": 1 << 70, "h": "\x00\n"},
    "toml": {"a": "x", "b.c": [1, {"d": 0.5}], "b.e": {}, "f": True, "h": "\x00\n", "i": [{"j": 1}, {}]},
    "yaml": {
        "a": "no",
        "b.c": [1, None, {"d": 0.5}],
        "b.e": {},
        "f": True,
        "g": 1 << 70,
        "h": "\x00\n",
        "i": [],
    },
}
FORMATS = [pytest.param(name, marks=[needs_htcondor] if name == "condor" else []) for name in VALUES]


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


def written(format: str, values: dict[str, Any]) -> tuple[str, Meant]:
    assert list(formats()[format].unfit(values, {})) == []
    return formats()[format].write(values, {}), Meant(values)


def reasons(verdicts: tuple[Verdict, ...]) -> list[str]:
    return [verdict.reason for verdict in verdicts]


def test_every_format_but_env_has_a_parser() -> None:
    assert Parsers.formats - {"classad"} == formats().keys() - {"env"} == VALUES.keys()


@pytest.mark.parametrize("format", FORMATS)
def test_what_gitcfg_writes_is_right(parsers: Parsers, format: str) -> None:
    assert judged(parsers, format, *written(format, VALUES[format])) == ()
    assert judged(parsers, format, *written(format, {})) == ()


@pytest.mark.parametrize("format", FORMATS)
def test_every_value_that_a_writer_gets_wrong_is_found(parsers: Parsers, format: str) -> None:
    text, _ = written(format, VALUES[format])
    for name, value in VALUES[format].items():
        other = "another" if value != "another" else 1
        verdicts = judged(parsers, format, text, Meant({**VALUES[format], name: other}))
        assert [verdict.params for verdict in verdicts] == [(name,)]
        assert "instead of 'another'" in verdicts[0].reason
        assert verdicts[0].grave


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_writer_leaves_out_or_adds_is_found(parsers: Parsers, format: str) -> None:
    text, _ = written(format, VALUES[format])
    (missing,) = judged(parsers, format, text, Meant({**VALUES[format], "z": 1}))
    assert (missing.params, missing.reason) == (("z",), "is read without z, which should be in it")
    rest = {name: value for name, value in VALUES[format].items() if name not in "Aa"}
    (added,) = judged(parsers, format, text, Meant(rest))
    assert added.reason in (f"is read with '{name}', which should not be in it" for name in "Aa")
    assert added.params == ()


OTHERS: dict[str, list[tuple[Any, Any]]] = {
    "json": [(1, True), (1, 1.0), (1, "1"), (None, "null"), ([], {}), ([1], [1, 1])],
    "toml": [(1, True), (1, 1.0), (1, "1"), ([], {}), ("1979-05-27", 1)],
    "yaml": [(1, True), (1, 1.0), (1, "1"), (None, "null"), ([], {}), ({"a": 1}, {})],
    "ini": [(1, 2), (True, "yes"), ("A", "a"), (["a", "b"], ["a b"]), ([], "x")],
}


@pytest.mark.parametrize(
    ("format", "value", "other"), [(format, *pair) for format, pairs in OTHERS.items() for pair in pairs]
)
def test_values_of_other_types_are_others(parsers: Parsers, format: str, value: Any, other: Any) -> None:
    text, _ = written(format, {"a": [value]} if format in ("json", "yaml") else {"a": value})
    assert judged(parsers, format, text, Meant({"a": [other] if format in ("json", "yaml") else other}))


@pytest.mark.parametrize(
    ("format", "text", "line", "words"),
    [
        ("json", '{"a": 1,\n}', 2, "is not valid JSON at line 2"),
        ("json", '{"a": NaN}', 0, "NaN is not a number"),
        ("json", "", 1, "is not valid JSON at line 1"),
        ("json", "[" * 100_000, 0, "nests too deep"),
        ("json", '{"a": 1}\0', 1, "is not valid JSON"),
        ("toml", "a = 1\na = 2\n", 2, "is not valid TOML at line 2"),
        ("toml", "a = 1\nb = \n", 2, "is not valid TOML at line 2"),
        ("toml", "a = " + "[" * 100_000, 0, "nests too deep"),
        ("yaml", "a: 1\n b: 2\n", 2, "is not valid YAML at line 2, column 3"),
        ("yaml", "a: [1\n", 1, "is not valid YAML"),
        ("yaml", "a: \0\n", 1, "is not valid YAML"),
        ("ini", "a = 1\n[s]\nb = 1\nb = 2\n", 4, "is not valid INI at line 4"),
        ("ini", "a = 1\n[s]\nnonsense\n", 3, "is not valid INI at line 3"),
    ],
)
def test_what_does_not_parse(parsers: Parsers, format: str, text: str, line: int, words: str) -> None:
    for meant in (None, Meant({"a": 1})):
        (verdict,) = judged(parsers, format, text, meant)
        assert words in verdict.reason
        assert verdict.line == line
        assert verdict.grave


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", '{"a": 1, "a": 2}'),
        ("json", "[1]"),
        ("yaml", "a: &x !tag [1]\nb: *x\n--- 2\n...\n"),
        ("yaml", ""),
        ("yaml", "{a: 1, a: 1, ? [b] : c}"),
        ("yaml", "- " * 10_000),
        ("toml", "a = 1979-05-27\n[b]\n"),
        ("ini", "[DEFAULT]\na=1\n[s]\nb: 1 = 2\n"),
    ],
)
def test_what_others_write_need_only_parse(parsers: Parsers, format: str, text: str) -> None:
    assert judged(parsers, format, text, None) == ()
    assert judged(parsers, format, text, Meant({"a": 3}))


def test_a_text_is_judged_once() -> None:
    with Parsers() as parsers:
        for _ in range(3):
            judged(parsers, "json", "{}", Meant({}))
        assert parsers.question_count == 1
        judged(parsers, "json", "{}", Meant({"a": 1}))
        judged(parsers, "json", "{}", None)
        judged(parsers, "yaml", "{}", None)
        assert parsers.question_count == 4


def test_a_parser_that_is_killed_takes_nothing_with_it(parsers: Parsers) -> None:
    parsers.begin()
    (process,) = parsers._pool.processes
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert judged(parsers, "json", '{"killed": 1}', Meant({"killed": 1})) == ()
    parsers.close()
    assert judged(parsers, "json", '{"closed": 1}', Meant({"closed": 1})) == ()


def test_a_text_may_cost_no_more_than_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = msgspec.structs.replace(parsers_module._LIMITS, cpu_seconds=0.3)
    monkeypatch.setattr(parsers_module, "_LIMITS", limits)
    with Parsers() as parsers:
        (verdict,) = judged(parsers, "toml", ("a" + ".a" * 100_000 + " = 1\n") * 20, None)
        assert (
            verdict.reason
            == "cannot be checked: the parser for TOML took longer than 0.3 s of processor time"
        )
        assert verdict.grave
        assert judged(parsers, "toml", "a = 1\n", None) == ()


@pytest.mark.slow
def test_thousands_of_texts_are_one_child_s_work() -> None:
    with Parsers() as parsers:
        parsers.begin()
        processes = parsers._pool.processes
        for number in range(2000):
            assert judged(parsers, "json", f'{{"a": {number}}}', Meant({"a": number})) == ()
            assert judged(parsers, "condor", f"A = {number}\n", Meant({"A": number})) == ()
        assert parsers._pool.processes == processes


def test_what_is_too_large_is_not_judged(parsers: Parsers) -> None:
    (verdict,) = judged(parsers, "json", '"' + "x" * (17 << 20) + '"', None)
    assert verdict == Verdict("is larger than 16 MiB, too large to be checked", grave=False)
    assert judged(parsers, "json", '"' + "x" * (15 << 20) + '"', None) == ()


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_no_utf_8_is_not_judged(parsers: Parsers, format: str) -> None:
    for meant in (None, Meant({"A": "\ud800"})):
        (verdict,) = judged(parsers, format, "A = \ud800\n", meant)
        assert verdict.reason.startswith("cannot be checked: ")
        assert "surrogates not allowed" in verdict.reason
    (verdict,) = next(parsers.judge([Question(format, "A = \ud800\n", None, True)]))
    assert "surrogates not allowed" in verdict.reason


def test_parsers_that_end_again_and_again_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.parsers.parsers._MOST_ENDS", 2)
    monkeypatch.setattr("gitcfg.parsers.parsers._CHILD", "gitcfg.parsers.nothing")
    with Parsers() as parsers:
        verdicts = [judged(parsers, "json", f"{number}", None) for number in range(4)]
    assert [verdict.grave for (verdict,) in verdicts] == [True, True, False, False]
    assert reasons(verdicts[3]) == ["is not checked, because 2 others ended their parsers"]
