"""How far a release gets: a pure function of what nodes have made of it, and of the time."""

from msgspec.structs import replace

from gitcfg.rollout.manning import manned
from gitcfg.rollout.outcomes import Look, Tally, tally
from gitcfg.rollout.plan import Plan
from gitcfg.rollout.progress import Progress, Status


def advanced(plan: Plan, progress: Progress, seen: Look, now: float) -> tuple[Plan, Progress]:
    """As far as a release gets by now: into the next stages, to its end, or to a halt.

    The plan changes where nodes that are there stand in for others that are away.
    """
    while progress.status is Status.RUNNING:
        after = _step(plan, progress, seen, now)
        if after == (plan, progress):
            break
        plan, progress = after
    return plan, progress


def _step(plan: Plan, progress: Progress, seen: Look, now: float) -> tuple[Plan, Progress]:
    everybody = tally(progress, plan.offered(progress.stage), seen, now)
    joined = tally(progress, plan.joining(progress.stage), seen, now)
    why = _too_many(plan, progress, everybody, joined)
    if why:
        return plan, replace(progress, status=Status.HALTED, why=why, well=None)
    if everybody.pending:
        return plan, replace(progress, well=None)
    last = progress.stage + 1 == len(plan.sizes)
    if not last and not joined.tried:
        return _stood_in(plan, progress, seen, now)
    if progress.well is None:
        return plan, replace(progress, well=now)
    if now - progress.well < plan.settle:
        return plan, progress
    if last:
        return plan, replace(progress, status=Status.DONE)
    return manned(plan, progress.stage + 1, seen, now), replace(
        progress, stage=progress.stage + 1, since=now, well=None
    )


def _stood_in(plan: Plan, progress: Progress, seen: Look, now: float) -> tuple[Plan, Progress]:
    """Where a whole stage is away nobody has tried the commit: others do, or it waits for somebody."""
    found = manned(plan, progress.stage, seen, now)
    since = now if found != plan else progress.since
    return found, replace(progress, since=since, well=None)


def _too_many(plan: Plan, progress: Progress, everybody: Tally, joined: Tally) -> str:
    """Why nobody else gets it. Where most of a stage fails, that one node may fail helps nobody."""
    if everybody.failures > plan.max_failures:
        return f"{_counted(everybody)}, and at most {plan.max_failures} may fail"
    if not joined.pending and joined.failures and joined.failures >= joined.well:
        return f"{_counted(joined)} of the {joined.failures + joined.well} in stage {progress.stage + 1}"
    return ""


def _counted(found: Tally) -> str:
    said = [f"{found.failed} failed"] if found.failed else []
    said += [f"{found.missing} missing"] if found.missing else []
    return " and ".join(said)
