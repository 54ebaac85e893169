"""What people do to releases, and what servers ask of the database besides."""

import pytest

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.rollout import Plan, Progress, Status
from gitcfg.state.records import Checkin, Event, StoredRelease
from gitcfg.state.state import State

A, B = "a" * 40, "b" * 40


def begun(state: State, commit: str, status: Status) -> None:
    plan = Plan(("n1", "n2"), (1, 2))
    assert state.releases.begin(
        StoredRelease(commit, None, 1.0, plan, Progress(commit, 1.0, status=status, why="1 failed"))
    )


def test_a_halted_release_is_resumed_once(state: State) -> None:
    begun(state, A, Status.HALTED)
    before = state.events.sequence()
    found = state.releases.resume(A[:7], 50.0, "alice")
    assert (found.progress.status, found.progress.forgiven, found.revision) == (Status.RUNNING, 50.0, 1)
    assert state.events.sequence() > before
    (event,) = state.events.after(0)
    assert (event.kind, event.data["what"], event.data["by"]) == ("release", "resumed", "alice")
    with pytest.raises(GitcfgError, match="is running, so it cannot be resumed") as raised:
        state.releases.resume(A, 51.0, "alice")
    assert raised.value.code == REFUSED


@pytest.mark.parametrize("status", [Status.RUNNING, Status.HALTED])
def test_a_release_is_aborted_unless_it_is_over(state: State, status: Status) -> None:
    begun(state, A, status)
    assert state.releases.abort(A, 50.0, "bob").progress.status is Status.ABORTED
    with pytest.raises(GitcfgError, match="is aborted"):
        state.releases.abort(A, 51.0, "bob")


def test_a_release_is_found_by_what_its_commit_begins_with(state: State) -> None:
    begun(state, A, Status.RUNNING)
    begun(state, B, Status.RUNNING)
    assert [release.commit for release in state.releases.newest(5)] == [B, A]
    assert [release.commit for release in state.releases.newest(1)] == [B]
    assert state.releases.find("aaaa").progress.status is Status.OVERTAKEN
    for text in ("aaa", "", "cccc", A + "a"):
        with pytest.raises(GitcfgError, match="has no release"):
            state.releases.find(text)


def test_a_node_is_claimed_by_the_key_that_comes_first(state: State) -> None:
    assert state.claims.claim("n1", "one", 5.0) == "one"
    assert state.claims.claim("n1", "two", 6.0) == "one"
    known = state.checkins.node("n1")
    assert known is not None
    assert (known.key, known.first, known.commit) == ("one", 5.0, None)
    state.checkins.record([Checkin("n1", 7.0, "three", commit=A)])
    assert state.claims.claim("n1", "two", 8.0) == "three"


def test_several_events_are_kept_in_order(state: State) -> None:
    state.events.extend([])
    assert state.events.newest() == 0
    state.events.extend(
        [Event(0, float(number), "checkin", f"n{number}", {"x": number}) for number in range(3)]
    )
    found = state.events.after(0)
    assert [(event.node, event.data["x"]) for event in found] == [("n0", 0), ("n1", 1), ("n2", 2)]
    assert [event.number for event in found] == sorted({event.number for event in found})


def test_the_sequence_is_read_as_it_was_given_last(state: State) -> None:
    assert state.events.sequence() == 0
    given = state.events.next_sequence(1000.0)
    assert state.events.sequence() == given == 1000
    assert state.events.next_sequence(10.0) == 1001 == state.events.sequence()
