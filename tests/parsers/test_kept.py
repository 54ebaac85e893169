"""Verdicts that are kept from one run to the next: those that follow from the text, and nothing else."""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
import pytest

from gitcfg.check.target_parsers import Meant, Question, Verdicts
from gitcfg.parsers import parsers as cases
from gitcfg.parsers import parsers as parsers_module
from gitcfg.parsers import verdicts as kept
from gitcfg.parsers.parsers import Parsers
from tests.parsers.oracle import needs_htcondor
from tests.parsers.test_many import HOG, mixed


class Shelf:
    """Keeps verdicts in a dictionary, and counts how often it is asked."""

    def __init__(self) -> None:
        self.found: dict[bytes, Verdicts] = {}
        self.gets = self.puts = 0

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, Verdicts]:
        self.gets += 1
        return {key: self.found[key] for key in keys if key in self.found}

    def put(self, found: Mapping[bytes, Verdicts]) -> None:
        self.puts += 1
        self.found.update(found)


def run(shelf: Shelf | None, questions: list[Question], workers: int = 2) -> tuple[list[Verdicts], int]:
    """The answers, and how many questions children were asked."""
    with Parsers(workers, shelf) as parsers:
        return list(parsers.judge(questions)), parsers.question_count


def test_what_was_judged_is_not_asked_again() -> None:
    questions, shelf = mixed(200), Shelf()
    cold, asked = run(shelf, questions)
    assert cold == run(None, questions)[0]
    assert asked == len(shelf.found) == 200
    with Parsers(2, shelf) as parsers:
        assert list(parsers.judge(questions)) == cold
        assert parsers.question_count == 0
        assert parsers._pool.processes == []


def test_it_is_asked_for_many_at_once() -> None:
    shelf = Shelf()
    run(shelf, mixed(400))
    assert shelf.gets <= 500 / 16 + 1
    assert shelf.puts == 1


def test_what_is_new_is_asked() -> None:
    questions, shelf = mixed(60), Shelf()
    run(shelf, questions[:30])
    warm, asked = run(shelf, questions)
    assert warm == run(None, questions)[0]
    assert asked == 30


def test_what_comes_from_limits_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = msgspec.structs.replace(parsers_module._LIMITS, cpu_seconds=0.3)
    monkeypatch.setattr(parsers_module, "_LIMITS", limits)
    monkeypatch.setattr("gitcfg.parsers.parsers._MOST_ENDS", 2)
    hogs = [Question("toml", f"x = {number}\n{HOG}") for number in range(2)]
    too_large = Question("json", "x" * (cases.LARGEST + 1))
    questions, shelf = [*mixed(20), too_large, *hogs, *mixed(80)], Shelf()
    cold, _ = run(shelf, questions)
    assert len(shelf.found) == 20
    assert {
        reason for found in shelf.found.values() for reason, *_ in map(msgspec.structs.astuple, found)
    } == {reason for found in cold[:20] for reason, *_ in map(msgspec.structs.astuple, found)}
    assert run(shelf, questions)[0] == cold


def test_another_version_is_another_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    questions, shelf = mixed(20), Shelf()
    run(shelf, questions)
    monkeypatch.setattr(kept, "_installed", lambda name: f"{name} of tomorrow")
    assert run(shelf, questions)[1] == 20
    assert len(shelf.found) == 40


def test_values_are_part_of_the_question() -> None:
    shelf = Shelf()
    for value, right in ((1, True), (2, False), ("1", False)):
        (verdicts,), _ = run(shelf, [Question("json", '{"a": 1}', partial(Meant, {"a": value}))])
        assert (not verdicts) == right
    assert len(shelf.found) == 3


@needs_htcondor
def test_htcondors_verdicts_are_kept_but_for_the_end_of_its_process() -> None:
    texts: dict[str, dict[str, str]] = {
        "A = 1\n": {"A": "1"},
        "C = $(D)\nD = $(C)\n": {"C": "$(D)", "D": "$(C)"},
        "nonsense\n": {"A": "1"},
    }
    questions = [Question("condor", text, partial(Meant, values), True) for text, values in texts.items()]
    shelf = Shelf()
    cold, _ = run(shelf, questions)
    assert [len(verdicts) for verdicts in cold] == [0, 1, 1]
    warm, asked = run(shelf, questions)
    assert warm == cold
    assert asked == 2  # one to learn that it is not read as written, and the one that ends the process
    assert [bool(found) for found in shelf.found.values()] == [False, True]
