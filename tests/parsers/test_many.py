"""Many questions at once: answers come in order, whoever answers, and whatever happens to children."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from gitcfg.check.target_parsers import Meant, Question, Verdicts
from gitcfg.parsers import parsers as parsers_module
from gitcfg.parsers.parsers import Parsers

HOG = ("a" + ".a" * 100_000 + " = 1\n") * 20
"""Takes TOML's parser more time than it is given here."""


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = msgspec.structs.replace(parsers_module._LIMITS, cpu_seconds=0.3)
    monkeypatch.setattr(parsers_module, "_LIMITS", limits)


def right(number: int) -> Question:
    return Question("json", f'{{"a": {number}}}', lambda: Meant({"a": number}))


def wrong(number: int) -> Question:
    return Question("json", f'{{"a": {number}}}', lambda: Meant({"a": -1}))


def mixed(count: int) -> list[Question]:
    """Every seventh is wrong, every eleventh no JSON, and some come again."""
    rng = Random("mixed")
    found = []
    for number in range(count):
        asked = wrong(number) if number % 7 == 0 else right(number)
        found.append(Question("json", f"nonsense {number}") if number % 11 == 0 else asked)
    return found + rng.sample(found, count // 4)


def reasons(verdicts: Verdicts) -> list[str]:
    return [verdict.reason for verdict in verdicts]


def test_answers_come_in_order_however_many_children_there_are() -> None:
    questions = mixed(300)
    with Parsers(1) as parsers:
        one = [answer for question in questions for answer in parsers.judge([question])]
    assert sum(map(bool, one)) > 60
    for workers in (1, 2, 5):
        with Parsers(workers) as parsers:
            assert list(parsers.judge(questions)) == one
            assert 1 <= len(parsers._pool.processes) <= workers


def test_several_children_share_the_work_where_there_is_much() -> None:
    with Parsers(3) as parsers:
        list(parsers.judge(map(right, range(10))))
        assert len(parsers._pool.processes) == 1
        list(parsers.judge(map(right, range(10, 8000))))
        assert len(parsers._pool.processes) == 3


def test_a_bounded_number_of_questions_is_under_way() -> None:
    taken = 0

    def questions() -> Iterator[Question]:
        nonlocal taken
        for number in range(3000):
            taken += 1
            yield right(number)

    with Parsers(2) as parsers:
        ahead = [taken - given for given, _ in enumerate(parsers.judge(questions()))]
    assert len(ahead) == 3000
    assert max(ahead) <= parsers_module._MOST + parsers_module._TOGETHER


def test_large_texts_are_not_piled_up() -> None:
    taken = 0

    def questions() -> Iterator[Question]:
        nonlocal taken
        for number in range(20):
            taken += 1
            yield Question("json", f'"{number}{"x" * (4 << 20)}"')

    with Parsers(2) as parsers:
        ahead = [taken - given for given, _ in enumerate(parsers.judge(questions()))]
    assert max(ahead) <= 5


@pytest.mark.parametrize("workers", [1, 3])
def test_what_uses_up_its_time_costs_only_itself(workers: int) -> None:
    questions = [*map(right, range(40)), Question("toml", HOG), *map(right, range(40, 80)), wrong(80)]
    with Parsers(workers) as parsers:
        answers = list(parsers.judge(questions))
    assert reasons(answers[40]) == [
        "cannot be checked: the parser for TOML took longer than 0.3 s of processor time"
    ]
    assert [number for number, answer in enumerate(answers) if answer] == [40, 81]


@pytest.mark.parametrize("workers", [1, 3])
def test_after_so_many_ends_nothing_later_is_judged(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.parsers.parsers._MOST_ENDS", 2)
    hogs = [Question("toml", f"x = {number}\n{HOG}") for number in range(5)]
    first = [wrong(0), hogs[0], *map(right, range(1, 30))]
    then = [hogs[1], wrong(31), *map(right, range(32, 60)), *hogs[2:]]
    with Parsers(workers) as parsers:
        answers = list(parsers.judge([*first, *then, first[0], then[1]]))
    cut = ["is not checked, because 2 others ended their parsers"]
    assert [number for number, answer in enumerate(answers[: len(first)]) if answer] == [0, 1]
    assert "took longer" in answers[len(first)][0].reason
    assert all(reasons(answer) == cut for answer in answers[len(first) + 1 : -2])
    assert answers[-2] == answers[0]  # that was judged before
    assert reasons(answers[-1]) == cut


@pytest.mark.parametrize("seed", range(4))
def test_killed_children_change_nothing(seed: int) -> None:
    rng = Random(seed)
    questions = mixed(400)
    with Parsers(1) as parsers:
        wanted = list(parsers.judge(questions))
    kills = 0
    with Parsers(2) as parsers:
        found = []
        for answer in parsers.judge(questions):
            found.append(answer)
            if rng.random() < 0.03 and parsers._pool.processes:
                os.kill(rng.choice(parsers._pool.processes), signal.SIGKILL)
                kills += 1
        assert found == wanted
    assert kills > 3


def test_a_question_whose_new_child_is_killed_too_is_not_asked_for_ever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = (
        "from gitcfg.sandbox import serve_many\nimport os\nserve_many(lambda _: os.kill(os.getpid(), 9))\n"
    )
    (tmp_path / "deadly_for_tests.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("gitcfg.parsers.parsers._CHILD", "deadly_for_tests")
    with Parsers(2) as parsers:
        answers = list(parsers.judge(map(right, range(3))))
    assert [reasons(answer) for answer in answers] == [
        ["cannot be checked: the parser for JSON ended by SIGKILL"]
    ] * 3


def test_children_that_cannot_start_are_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with Parsers(2) as parsers:
        parsers.begin()
        answers = list(parsers.judge(map(right, range(40))))
    assert all("could not be started" in answer[0].reason for answer in answers[:20])
    assert all("is not checked" in answer[0].reason for answer in answers[20:])


def test_closing_in_the_middle_leaves_no_process() -> None:
    with Parsers(2) as parsers:
        answers = parsers.judge(map(right, range(2000)))
        for _ in range(500):
            next(answers)
        processes = parsers._pool.processes
        assert len(processes) == 2
    assert not any(Path(f"/proc/{process}").exists() for process in processes)
    answers.close()
    assert parsers._pool.processes == []


def test_what_was_left_in_the_middle_does_not_answer_later_questions() -> None:
    with Parsers(2) as parsers:
        for left in (1, 40, 400):
            answers = parsers.judge(map(wrong, range(1000 * left, 1000 * left + 600)))
            for _ in range(left):
                next(answers)
            answers.close()
            questions = mixed(50)
            again = list(parsers.judge(questions))
            with Parsers(1) as fresh:
                assert again == list(fresh.judge(questions))
