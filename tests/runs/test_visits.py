"""The table of visits, row by row, and that it has an answer to everything."""

import pytest

from gitcfg.runs.visits import MESSAGES, TABLE, Outcome, Signal, State, Visit, find_next

ROWS = """
offered     ack                        voted
offered     nack                       nacked
offered     down reborn odd            unavailable  rehab
offered     started succeeded failed   unavailable  rehab
offered     vote_ended orphan          unavailable
offered     unreachable                unavailable
offered     abort close deadline       not_started  withdraw
offered     deny                       denied
blocked     offer                      offered
blocked     abort close deadline       not_started
blocked     orphan                     not_started
blocked     deny                       denied
blocked     ack nack odd down started  -
voted       ack                        voted
voted       nack down reborn odd       unavailable  rehab
voted       started succeeded failed   unavailable  rehab
voted       abort                      not_started  withdraw
voted       go                         ready
voted       miss orphan                was_ready    rehab
voted       deadline                   timed_out    rehab
ready       start                      starting
ready       ack                        ready
ready       down reborn odd            crashed      rehab
ready       started succeeded failed   crashed      rehab
ready       nack                       failed       rehab
ready       deadline                   timed_out    rehab
ready       abort                      not_started  withdraw
ready       orphan                     was_ready    rehab
starting    started                    running
starting    ack                        starting
starting    succeeded failed           crashed      rehab
starting    down reborn odd orphan     crashed      rehab
starting    nack                       failed       rehab
starting    deadline                   timed_out    rehab
starting    aborted                    aborted
running     started                    running
running     succeeded                  succeeded
running     failed                     failed
running     nack                       failed       rehab
running     odd ack down reborn orphan crashed      rehab
running     deadline                   timed_out    rehab
running     aborted                    aborted
restarting  started                    restarting
restarting  succeeded down             away
restarting  reborn                     succeeded
restarting  failed                     failed
restarting  nack                       failed       rehab
restarting  odd ack orphan             crashed      rehab
restarting  deadline                   timed_out    rehab
restarting  aborted                    aborted
away        succeeded down             away
away        reborn                     succeeded
away        late                       crashed
away        failed                     failed
away        nack                       failed       rehab
away        odd ack started orphan     crashed      rehab
away        deadline                   timed_out    rehab
away        aborted                    aborted
offered     aborted                    -
voted       aborted                    -
ready       aborted                    -
"""


def rows() -> list[tuple[str, str, str, frozenset[str]]]:
    found = []
    for line in ROWS.strip().splitlines():
        words = line.split()
        marks = frozenset(words) & {"rehab", "withdraw"}
        state, *signals, to = (word for word in words if word not in marks)
        found += [(state, signal, to, marks) for signal in signals]
    return found


@pytest.mark.parametrize(("state", "signal", "to", "marks"), rows())
def test_what_a_signal_makes_of_a_visit(state: str, signal: str, to: str, marks: frozenset[str]) -> None:
    found = find_next(State(state), Signal(signal))
    if to == "-":
        assert found is None
        return
    assert found is not None
    assert found.to.value == to
    assert {name for name in ("rehab", "withdraw") if getattr(found, name)} == marks


def test_all_that_the_rows_do_not_list_changes_nothing() -> None:
    listed = {(state, signal) for state, signal, *_ in rows()}
    for state in State:
        for signal in Signal:
            if (state.value, signal.value) not in listed:
                assert find_next(state, signal) is None, (state, signal)


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_is_final(outcome: Outcome) -> None:
    assert all(find_next(outcome, signal) is None for signal in Signal)
    assert not Visit(state=outcome).is_open


def test_every_open_visit_can_end_by_the_time_of_the_run_and_with_its_server() -> None:
    for state in State:
        for signal in (Signal.DEADLINE, Signal.ORPHAN):
            assert isinstance(TABLE[state][signal].to, Outcome), (state, signal)


def test_no_message_of_a_node_is_without_an_answer_once_it_was_asked() -> None:
    for state in set(State) - {State.BLOCKED}:
        for signal in MESSAGES - {Signal.ABORTED}:
            assert find_next(state, signal) is not None, (state, signal)


def test_states_that_look_alike_from_outside() -> None:
    shown = {state.value: Visit(state=state).status for state in State}
    assert shown == {
        "blocked": "blocked",
        "offered": "new",
        "voted": "ready",
        "ready": "ready",
        "starting": "ready",
        "running": "running",
        "restarting": "running",
        "away": "away",
    }
