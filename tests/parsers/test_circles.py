"""Circles of macros are those on which HTCondor hangs or dies."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitcfg.compile.classad import find_macros
from gitcfg.parsers.child.condor import circles
from tests.parsers.oracle import Oracle, needs_htcondor


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    oracle = Oracle(tmp_path_factory.mktemp("condor"))
    yield oracle
    oracle.close()


def found(**values: str) -> list[tuple[str, ...]]:
    return [said.params for said in circles({name.replace("__", "."): text for name, text in values.items()})]


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("$(A)", ["$ A"]),
        ("x$(A)y$(B.c/d)z", ["$ A", "$ B.c/d"]),
        ("$(A:x, $(B))", ["$ A x, $(B)"]),
        ("$(A:(x)y)", ["$ A (x)y"]),
        ("$()", ["$ "]),
        ("$INT(A) $F(B) $Fpq(C) $ENV(D) $NOPE(E)", ["$INT A", "$F B", "$Fpq C"]),
        ("$$(A) $$([$(B)])", ["$ B"]),
        ("$$$(A)", ["$ A"]),
        ("$(A $( A) $(A-B) $(A;) $", []),
        ("$(A $(B)", ["$ B"]),
        ("$INT($(A))", ["$INT $(A"]),
    ],
)
def test_macros_as_htcondor_scans_them(value: str, seen: list[str]) -> None:
    assert [f"{m.function} {m.body} {m.default}".rstrip(" ") or "" for m in find_macros(value)] == [
        text.rstrip(" ") for text in seen
    ]


def test_circles_are_told_with_their_names() -> None:
    (said,) = circles({"START": "$(Wanted) && x", "wanted": "$(START)", "OTHER": "$(START)"})
    assert said.params == ("START", "wanted")
    assert said.reason == "has macros that form a cycle: START uses wanted, wanted uses START"
    assert said.hint


def test_circles() -> None:
    assert found(A="$(B)", B="$(C)", C="$(A)", D="$(D2)", D2="$(D)") == [("A", "B", "C"), ("D", "D2")]
    assert found(A="$(A) x", B="$(b)", C="$(C:$(C))", D="$F(D)") == []
    assert found(A="$INT(A)") == [("A",)]
    assert found(A="$(B)", B="") == found(A="$(B:$(A))", B="x") == found(A="$$(B)", B="$(A)") == []
    assert found(A="$(E:$(B))", B="$(A)", E="") == [("A", "B")]
    assert found(A="$(NOT_HERE:$(B))", B="$(A)") == []


def test_circles_in_a_daemon_that_has_settings_of_its_own() -> None:
    assert found(SCHEDD__A="$(B)", B="$(A)") == [("B", "SCHEDD.A")]
    assert found(SCHEDD__A="$(B)", B="$(A)", A="1") == [("B", "SCHEDD.A")]
    assert found(SCHEDD__A="$(A) x", A="1") == found(SCHEDD__A="$(B)", B="$(A)", STARTD__B="1")[1:] == []
    assert found(SCHEDD__A="1", A="$(B)", B="$(A)") == [("A", "B")]
    assert found(OTHER__A="$(B)", B="$(A)") == found(MASTER="$(SBIN)/condor_master") == []


@pytest.mark.slow
def test_many_macros_cost_little() -> None:
    values = {f"A{n}": f"$(A{n + 1}) $(A{n + 2})" for n in range(20_000)}
    assert found(**values) == []
    assert len(found(**values, A20000="$(A0)")[0]) == 20_001


NAMES = st.sampled_from(["A", "B", "C", "a", "SCHEDD.A", "SCHEDD.B"])
# No pieces of macros: a value that ends with a `$` makes another macro of what stands behind it.
PIECES = st.one_of(
    st.sampled_from(["", "x", "1", " ", ")", "$(DOLLAR)", "$(A-B)", ":"]),
    NAMES.map("$({})".format),
    st.builds("$({}:{})".format, NAMES, st.sampled_from(["", "x", "$(C)", "$(B)", "(C)"])),
    st.builds("{}({})".format, st.sampled_from(["$F", "$Fpn", "$STRING", "$EVAL", "$BASENAME", "$$"]), NAMES),
    st.builds("$SUBSTR({},0)".format, NAMES),
    st.builds("$CHOICE(0,{})".format, NAMES),
    st.builds("$CHOICE(0,{},x)".format, NAMES),
    st.builds("$RANDOM_CHOICE({})".format, NAMES),
    st.builds("$RANDOM_CHOICE({},x)".format, NAMES),
)
FILES = st.dictionaries(
    st.sampled_from(["A", "B", "C", "SCHEDD.A", "SCHEDD.B"]),
    st.lists(PIECES, max_size=2).map("".join).map(str.strip),
    max_size=5,
)
HANGS = {-signal.SIGPROF, -signal.SIGSEGV, -signal.SIGABRT}


@needs_htcondor
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(values=FILES)
@example(values={"A": "$(B)", "B": "$(A)"})
@example(values={"SCHEDD.A": "$(B)", "B": "$(A)"})
@example(values={"A": "$RANDOM_CHOICE(A)"})
def test_htcondor_hangs_or_dies_where_there_is_a_circle(oracle: Oracle, values: dict[str, str]) -> None:
    text = "".join(f"{name} = {value}\n" for name, value in values.items())

    def hangs(names: list[str], daemon: str) -> bool:
        return oracle.ask(text, [name.removeprefix(f"{daemon}.") for name in names], daemon)[0] in HANGS

    told = [list(said.params) for said in circles(values)]
    for members in told:
        assert hangs(members, "") or hangs(members, "SCHEDD"), (text, members)
    # Whether a default counts may depend on what other files set: then a circle is not certain.
    if not told and ":$" not in text:
        assert not hangs(sorted(values), "")
        assert not hangs(sorted(values), "SCHEDD")
