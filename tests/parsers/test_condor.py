"""HTCondor's own parser as the judge of HTCondor files, and that it can do no harm."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gitcfg.check.target_parsers import Meant, Verdict
from gitcfg.parsers import parsers as parsers_module
from gitcfg.parsers.parsers import Parsers
from gitcfg.render.formats import formats
from tests.parsers.oracle import judged, needs_htcondor
from tests.render.test_formats_condor import CARRIED

pytestmark = needs_htcondor


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parsers]:
    """Parsers that are not given much time."""
    limits = msgspec.structs.replace(parsers_module._LIMITS, cpu_seconds=0.3)
    monkeypatch.setattr(parsers_module, "_LIMITS", limits)
    with Parsers() as parsers:
        yield parsers


def carried(parsers: Parsers, values: dict[str, Any]) -> tuple[Verdict, ...]:
    """What is said of what gitcfg writes."""
    assert list(formats()["condor"].unfit(values, {})) == []
    return judged(parsers, "condor", formats()["condor"].write(values, {}), Meant(values))


def only(parsers: Parsers, text: str, meant: dict[str, Any] | None = None) -> Verdict:
    (verdict,) = judged(parsers, "condor", text, None if meant is None else Meant(meant))
    return verdict


@pytest.mark.parametrize(
    "values",
    [
        {
            "USE_SHARED_PORT": "TRUE",
            "ENABLE_IPV6": True,
            "Enable_Ipv4": "true",
        },  # of defaults in another case
        {"NEGOTIATOR_INTERVAL": 60, "negotiator.x": "$(Y)", "SCHEDD.A.B": "1"},
        {"DAEMON_LIST": ["$(DAEMON_LIST)", "STARTD"]},
        {
            "A": "$(A) x",
            "B": "x $(b) y $(B) z",
            "C": "$(C:d)",
            "D": "$F(D)/x",
            "E": "$(E)",
            "LOG": "$(LOG)/x",
        },
        {"SUBSYSTEM": "x", "HOSTNAME": "x", "FULL_HOSTNAME": "x", "IP_ADDRESS": "x", "PID": 1, "PPID": "x"},
        {"USERNAME": "x", "REAL_UID": 5, "TILDE": "x", "ARCH": "x", "OPSYS": "", "DETECTED_CPUS": 9999},
        {"A": "", "B": [], "C": "  x".strip(), "D": "a, b", "E": ["a, b".replace(",", ";"), "c"]},
    ],
)
def test_what_htcondor_has_ways_of_its_own_with(parsers: Parsers, values: dict[str, Any]) -> None:
    assert carried(parsers, values) == ()


def test_what_looks_odd(parsers: Parsers) -> None:
    texts = [text.strip() for line in CARRIED.strip().splitlines() for text in line.split(" | ")]
    texts += ["x\ty", "x\vy", "\u00a0x\u00a0", "x\u2028", "\x85", "é", "\ufeff", "\x01", "x" * 3_000_000]
    assert carried(parsers, {f"X_{index}": text for index, text in enumerate(texts)}) == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("A = 1\nnonsense\nB = 2\n", 2, "at line 2, which reads: nonsense"),
        ("A = 1\nA-B = 2\n", 2, "at line 2, with the message: Illegal Identifier: <A-B>"),
        ("A = 1\n\nA-B \\\n = 2\n", 4, "at line 4, with the message: Illegal Identifier: <A-B>"),
        ("if true\nA = 1\n", 2, "endif(s) not found before end-of-file"),
        ("warning : careful\nwarning : x\nelse\n", 3, "with the message: else without matching if"),
        ("error : no \x1b[31m\n", 1, "with the message: no \\x1b[31m"),
        ("A", 1, "which reads: A"),
    ],
)
def test_a_file_that_it_refuses(parsers: Parsers, text: str, line: int, words: str) -> None:
    verdict = only(parsers, text)
    assert verdict.reason.startswith("is rejected by HTCondor's own parser at line ")
    assert words in verdict.reason
    assert (verdict.line, verdict.grave) == (line, True)


def test_the_line_that_it_refuses_names_the_parameter(parsers: Parsers) -> None:
    assert only(parsers, "A = 1\nB C = 2\nD = 3\n", {"A": 1, "D": 3}).params == ()
    assert only(parsers, "A = 1\nD = \\\n", {"A": 1, "D": 2}).params == ("D",)
    verdict = only(parsers, "error = 1\nA = 1\nerror : 2\n", {"A": 1, "error": 1})
    assert (verdict.line, verdict.params) == (3, ())


def test_what_is_read_otherwise(parsers: Parsers) -> None:
    assert only(parsers, "A = 1\nB = x\\\ny\n", {"A": 1, "B": "x\\"}).params == ("B",)
    assert only(parsers, "A = 1\nA = 2\n", {"A": 1}).reason == "is read with A as '2' instead of 1"
    assert only(parsers, "A = 1\nB = 2\n", {"A": 1}).reason == ("is read with 'b', which should not be in it")
    assert only(parsers, "A = x\n", {"A": "X"}).params == ("A",)
    assert only(parsers, "A = a $(A) c\n", {"A": "b $(A) c"}).params == ("A",)
    assert only(parsers, "A = $(A)\n", {"A": "$(A) c"}).params == ("A",)


def test_one_bad_file_among_many(parsers: Parsers) -> None:
    for number in range(30):
        good = f"A_{number} = {number}\n"
        assert judged(parsers, "condor", good, Meant({f"A_{number}": number})) == ()
        if number % 10 == 0:
            assert only(parsers, f"{good}nonsense\n").line == 2


def test_nothing_of_one_file_is_seen_in_another(parsers: Parsers) -> None:
    assert carried(parsers, {"A": 1, "START": "x"}) == ()
    assert carried(parsers, {"B": "$(B) y", "A": "$(A) z"}) == ()
    assert only(parsers, "B = 1\n", {"A": 1, "B": 1}).reason == "is read without A, which should be in it"


def test_nothing_of_the_machine_is_seen(
    parsers: Parsers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "condor_config"
    config.write_text("include command : /bin/false\nnonsense\n")
    monkeypatch.setenv("CONDOR_CONFIG", str(config))
    monkeypatch.setenv("_CONDOR_A", "from the environment")
    with Parsers() as fresh:
        assert carried(fresh, {"A": "1"}) == ()
        assert only(fresh, "A = 1\n", {}).reason.startswith("is read with 'a'")


def test_settings_that_would_run_load_or_read_something_do_not(parsers: Parsers, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    values = {
        "LOCAL_CONFIG_FILE": f"/usr/bin/touch {touched} |",
        "LOCAL_CONFIG_DIR": "/proc/self",
        "REQUIRE_LOCAL_CONFIG_FILE": True,
        "CLASSAD_USER_LIBS": "/nowhere/lib.so",
        "NETWORK_INTERFACE": "192.0.2.1",
        "DEFAULT_DOMAIN_NAME": "example.org",
        "USER_CONFIG_FILE": "/etc/passwd",
    }
    assert carried(parsers, values) == ()
    assert not touched.exists()


@pytest.mark.parametrize(
    "text", ["include command : /usr/bin/touch {} |\n", "inclu\\\nde command : /usr/bin/touch {}\n"]
)
def test_programs_are_not_run(parsers: Parsers, tmp_path: Path, text: str) -> None:
    touched = tmp_path / "touched"
    verdict = only(parsers, text.format(touched))
    assert verdict.reason.startswith("is not checked with HTCondor's own parser: it uses `include`")
    assert not verdict.grave
    assert not touched.exists()


def test_circles_are_found_before_it_is_asked(parsers: Parsers) -> None:
    verdict = only(parsers, "A = $(B)\nB = $(A)\nX$(A) = 3\n")
    assert verdict.params == ("A", "B")
    assert carried(parsers, {"START": "$(WANTED)", "WANTED": "$(START)", "C": 1})[0].params == (
        "START",
        "WANTED",
    )


def test_what_hangs_all_the_same_is_ended(hurried: Parsers) -> None:
    verdict = only(hurried, "if true\nA = $(B)\nB = $(A)\nX$(A) = 3\nendif\n")
    assert (
        verdict.reason == "cannot be checked: HTCondor's own parser took longer than 0.3 s of processor time"
    )
    assert verdict.grave
    assert only(hurried, "if true\nA = $INT(B)\nB = $INT(A)\nX$(A) = 3\nendif\n").grave
    assert judged(hurried, "condor", "A = 1\n", Meant({"A": 1})) == ()


def test_a_huge_file_costs_its_budget_at_most(hurried: Parsers) -> None:
    values = {f"A{number}": number for number in range(100_000)}
    assert "took longer" in carried(hurried, values)[0].reason
    assert carried(hurried, {"A": "x" * 4_000_000}) == ()


@pytest.mark.parametrize(("text", "line"), [("A = x\0y\n", 1), ("A = 1\n\0", 2), ("inc\0\nlude : x\n", 1)])
def test_nul_is_refused_where_gitcfg_did_not_write_it(parsers: Parsers, text: str, line: int) -> None:
    verdict = only(parsers, text)
    assert "NUL character" in verdict.reason
    assert verdict.line == line
    assert judged(parsers, "condor", text, Meant({"A": "x\0y"}))
