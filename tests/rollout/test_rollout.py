"""Releases: stages, failures, waits, what overtakes what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gitcfg.model import Origin, Ref, Release, Share
from gitcfg.model.delivery import EVERYONE
from gitcfg.rollout import (
    LEAST,
    MOST,
    Outcome,
    Plan,
    Presence,
    Progress,
    Rollout,
    Status,
    abort,
    advance,
    compute_patience,
    fill_stage,
    find_offer,
    judge_node,
    plan_rollout,
    resume,
)
from tests.rollout.simulated import Fleet

AT = Origin("gitcfg.yaml")
USUAL = Release(AT)
NODES = [f"n{number}" for number in range(500)]
BEGIN = 1_000_000.0


def fleet(bad: set[str] | None = None, release: Release | None = USUAL, away: tuple[str, ...] = ()) -> Fleet:
    """500 nodes, of which the bad ones fail; None: all do."""
    plan = plan_rollout("c1", NODES, release)
    return Fleet(plan, Progress("c1", BEGIN), lambda name: bad is not None and name not in bad, away)


def test_a_bad_commit_reaches_one_node() -> None:
    found = fleet()
    progress = found.minutes(24 * 60)
    assert progress.status is Status.HALTED
    assert progress.why == "1 failed of the 1 in stage 1"
    assert found.touched == {found.rollout.plan.order[0]}


def test_a_good_one_reaches_everybody_stage_by_stage() -> None:
    found = fleet(set())
    sizes = []
    while found.rollout.progress.status is Status.RUNNING:
        found.minute()
        sizes.append(len(found.touched))
    assert sorted(set(sizes)) == [1, 50, 500]
    assert sizes.count(1) >= 10  # it settles for ten minutes
    assert found.rollout.progress.status is Status.DONE


def test_few_may_fail_and_more_may_not() -> None:
    order = plan_rollout("c1", NODES, USUAL).order
    assert fleet(set(order[5:8])).minutes(120).status is Status.DONE
    found = fleet(set(order[5:9]))
    assert found.minutes(120).why == "4 failed, the limit is 3"
    assert len(found.touched) == 50


def test_without_a_release_everybody_gets_it_at_once() -> None:
    found = fleet(None, None)
    found.minute()
    assert len(found.touched) == 500


def test_who_is_away_is_not_waited_for() -> None:
    order = plan_rollout("c1", NODES, USUAL).order
    assert fleet(set(), away=(order[0], *order[10:20])).minutes(60).status is Status.DONE


@pytest.mark.parametrize("away", [1, 50, 499])
def test_who_is_away_lets_no_bad_commit_through(away: int) -> None:
    """Those that are there stand in, so that somebody tries each stage out."""
    order = plan_rollout("c1", NODES, USUAL).order
    found = fleet(away=order[:away])
    assert found.minutes(24 * 60).status is Status.HALTED
    assert found.touched == {order[away]}


def test_where_all_are_away_it_waits_for_somebody() -> None:
    order = plan_rollout("c1", NODES, USUAL).order
    found = fleet(away=order)
    progress = found.minutes(24 * 60)
    assert (progress.status, progress.stage) == (Status.RUNNING, 0)
    for name in order[300:310]:
        found.comes(name)
    assert found.minutes(60).status is Status.HALTED
    assert found.touched == {order[300]}


def test_the_last_stage_need_not_be_there() -> None:
    order = plan_rollout("c1", NODES, USUAL).order
    assert fleet(set(), away=order[50:]).minutes(60).status is Status.DONE


def test_who_falls_silent_with_it_is_missing() -> None:
    """It has reported well and is never heard of again: the next stage must not get it."""
    found = fleet(set(), replace(USUAL, settle=2 * LEAST))
    found.minute()
    first = found.rollout.plan.order[0]
    assert found.seen[first].runs
    seen = {**found.seen}
    later = BEGIN + 60 + LEAST + 1
    seen |= {name: Presence(later, 0.0) for name in NODES if name != first}
    _, progress = advance(found.rollout.plan, found.rollout.progress, seen.get, later)
    assert progress.status is Status.HALTED
    assert progress.why == "1 missing of the 1 in stage 1"


def test_who_comes_back_has_time_to_take_it() -> None:
    progress = Progress("c1", BEGIN)
    back = BEGIN + 10 * LEAST
    assert judge_node(progress, Presence(back, back), back + 60) is Outcome.PENDING
    assert judge_node(progress, Presence(back + LEAST + 1, back), back + LEAST + 1) is Outcome.MISSING


def test_a_halted_release_goes_on_where_it_failed() -> None:
    """What failed tries again, and nobody else does before it has come through."""
    order = plan_rollout("c1", NODES, USUAL).order
    bad = {order[0]}
    found = fleet(bad)
    assert found.minutes(60).status is Status.HALTED
    found.resume()
    assert judge_node(found.rollout.progress, found.seen[order[0]], found.now) is Outcome.PENDING
    assert found.minutes(60).status is Status.HALTED
    assert found.touched == {order[0]}
    found.resume()
    bad.clear()
    assert found.minutes(60).status is Status.DONE


def test_what_was_forgiven_and_does_not_try_again_is_missing() -> None:
    progress = resume(Progress("c1", BEGIN, status=Status.HALTED), BEGIN + 60)
    later = BEGIN + 60 + LEAST + 1
    assert judge_node(progress, Presence(later, 0.0, failed=BEGIN + 30), later) is Outcome.MISSING


def test_who_comes_seldom_is_waited_for_longer() -> None:
    assert (compute_patience(None), compute_patience(60.0), compute_patience(3600.0)) == (
        LEAST,
        LEAST,
        3 * 3600.0,
    )
    assert compute_patience(7 * 86400.0) == MOST
    progress, later = Progress("c1", BEGIN), BEGIN + 2 * 3600
    assert (
        judge_node(progress, Presence(BEGIN - 60, 0.0, patience=compute_patience(3600.0)), later)
        is Outcome.PENDING
    )
    assert judge_node(progress, Presence(BEGIN - 60, 0.0), later) is Outcome.MISSING


def test_going_back_waits_in_no_stage() -> None:
    release = replace(USUAL, settle=3600.0)
    plan = plan_rollout("c1", NODES, release, back=True)
    assert (plan.sizes, plan.settle) == ((1, 50, 500), 0.0)
    assert Fleet(plan, Progress("c1", BEGIN), lambda _: True).minutes(4).status is Status.DONE


def test_what_overtakes_begins_anew_and_the_rest_stays() -> None:
    """B had got to ten percent, C is at one node: nine tenths run what was before both."""
    second = plan_rollout("b", NODES, USUAL)
    third = plan_rollout("c", NODES, USUAL)
    chain = [
        Rollout(third, Progress("c", BEGIN)),
        Rollout(second, Progress("b", BEGIN, stage=1, status=Status.OVERTAKEN)),
    ]
    runs = [find_offer(name, chain, "a").commit for name in NODES]
    assert (runs.count("c"), runs.count("b"), runs.count("a")) == (
        1,
        *((49, 450) if third.order[0] in second.offered(1) else (50, 449)),
    )


def test_an_aborted_one_is_taken_back() -> None:
    plan = plan_rollout("b", NODES, USUAL)
    chain = [Rollout(plan, abort(Progress("b", BEGIN, stage=1)))]
    found = find_offer(plan.order[0], chain, "a")
    assert (found.commit, found.back) == ("a", True)


def test_what_it_does_not_change_is_not_waited_for() -> None:
    chain = [Rollout(plan_rollout("b", NODES, USUAL), Progress("b", BEGIN))]
    assert find_offer("other", chain, "a").commit == "b"


def test_who_comes_while_it_is_on_its_way_comes_last() -> None:
    plan = plan_rollout("b", NODES, USUAL)
    for stage, commit in ((0, "a"), (1, "a"), (2, "b")):
        chain = [Rollout(plan, Progress("b", BEGIN, stage=stage), set(NODES))]
        assert find_offer("guest", chain, "a").commit == commit


def test_a_halted_one_is_for_nobody_else() -> None:
    """Whoever has no turn in it: a guest, a node that is new in it, one that it does not change."""
    halted = replace(Progress("b", BEGIN), status=Status.HALTED)
    for described in (None, set(), {"other"}):
        chain = [Rollout(plan_rollout("b", NODES, USUAL), halted, described)]
        assert find_offer("other", chain, "a").commit == "a"


def test_canaries_are_first_and_every_commit_has_others() -> None:
    first = plan_rollout("c1", NODES, Release(AT, first=Ref("true", AT)), {"n7", "n9"})
    assert set(first.order[:2]) == {"n7", "n9"}
    assert len({plan_rollout(f"c{number}", NODES, USUAL).order[0] for number in range(20)}) > 10


SHARES = st.lists(
    st.builds(Share, st.integers(1, 120)) | st.builds(Share, st.floats(0.01, 100), st.just(True)), max_size=4
)


@given(SHARES, st.integers(0, 300))
def test_stages_grow_up_to_everybody(shares: list[Share], number: int) -> None:
    plan = plan_rollout("c", NODES[:number], Release(AT, (*shares, EVERYONE)))
    assert plan.sizes[-1] == number
    assert list(plan.sizes) == sorted(set(plan.sizes))
    joined = [name for stage in range(len(plan.sizes)) for name in plan.joining(stage)]
    assert joined == list(plan.order)


@given(st.lists(st.sampled_from(["good", "bad", "away"]), min_size=1, max_size=60), st.integers(0, 5), SHARES)
def test_failures_never_exceed_what_is_allowed_by_more_than_a_stage(
    kinds: list[str], most: int, shares: list[Share]
) -> None:
    """Whatever happens: who is in a stage that was not offered it never gets it, and it ends."""
    names = [f"n{number}" for number in range(len(kinds))]
    kind = dict(zip(names, kinds, strict=True))
    plan = plan_rollout("c", names, Release(AT, (*shares, EVERYONE), 120.0, most))
    away = tuple(name for name in names if kind[name] == "away")
    found = Fleet(plan, Progress("c", BEGIN), lambda name: kind[name] == "good", away)
    progress = found.minutes(len(plan.sizes) * 5 + 5)
    nobody = set(away) == set(names) and len(plan.sizes) > 1
    assert progress.status in ((Status.RUNNING,) if nobody else (Status.DONE, Status.HALTED))
    plan = found.rollout.plan
    assert sorted(plan.order) == sorted(names)
    assert found.touched == set(plan.offered(progress.stage)) - set(away)
    assert len(found.touched_before_well) <= plan.sizes[0]
    before = plan.offered(progress.stage - 1) if progress.stage else ()
    assert sum(kind[name] == "bad" for name in before) <= most
    if progress.status is Status.DONE:
        assert sum(kind[name] == "bad" for name in names) <= most


@given(st.integers(0, 499), st.integers(0, 2))
def test_every_server_answers_alike(number: int, stage: int) -> None:
    plans: list[Plan] = [plan_rollout("c", order, USUAL) for order in (NODES, NODES[::-1])]
    progress = Progress("c", BEGIN, stage=stage)
    assert len({Rollout(plan, progress).reached(NODES[number]) for plan in plans}) == 1


def test_who_does_not_report_is_waited_for_by_nobody() -> None:
    """It gets the commit when somebody deploys it: well or failed then, and away until then."""
    progress = Progress("c1", BEGIN)
    late = BEGIN + 10 * MOST
    for now in (BEGIN, late):
        assert judge_node(progress, Presence(BEGIN, BEGIN, reports=False), now) is Outcome.AWAY
        assert judge_node(progress, Presence(BEGIN, BEGIN, runs=True, reports=False), now) is Outcome.WELL
        assert (
            judge_node(progress, Presence(BEGIN, BEGIN, failed=BEGIN, reports=False), now) is Outcome.FAILED
        )
    forgiven = resume(progress, BEGIN + 1)
    assert judge_node(forgiven, Presence(BEGIN, BEGIN, failed=BEGIN, reports=False), late) is Outcome.AWAY


def test_who_reports_stands_in_for_who_does_not() -> None:
    order = plan_rollout("c1", NODES, USUAL).order
    plan = Plan(order, (1, 500), 0.0, 0)
    silent = set(order[:300])
    seen = {name: Presence(BEGIN, BEGIN, reports=name not in silent) for name in order}
    found = fill_stage(plan, 0, seen.get, BEGIN)
    assert found.order[0] == order[300]
    seen[order[300]] = Presence(BEGIN, BEGIN, runs=True)
    moved, progress = advance(found, Progress("c1", BEGIN), seen.get, BEGIN)
    assert (progress.stage, progress.status) == (1, Status.RUNNING)
    seen |= {name: Presence(BEGIN, BEGIN, runs=True) for name in order[300:]}
    assert advance(moved, progress, seen.get, BEGIN)[1].status is Status.DONE
