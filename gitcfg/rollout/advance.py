"""How far a release gets: a pure function of what nodes have made of it, and of the time."""

from msgspec.structs import replace

from gitcfg.rollout.outcomes import Look, Tally, tally
from gitcfg.rollout.plan import Plan
from gitcfg.rollout.progress import Progress, Status


def advanced(plan: Plan, progress: Progress, seen: Look, now: float) -> Progress:
    """As far as a release gets by now: into the next stages, to its end, or to a halt."""
    while progress.status is Status.RUNNING:
        after = _step(plan, progress, seen, now)
        if after == progress:
            break
        progress = after
    return progress


def _step(plan: Plan, progress: Progress, seen: Look, now: float) -> Progress:
    everybody = tally(progress, plan.offered(progress.stage), seen, now)
    joined = tally(progress, plan.joining(progress.stage), seen, now)
    why = _too_many(plan, progress, everybody, joined)
    if why:
        return replace(progress, status=Status.HALTED, why=why, well=None)
    if everybody.pending:
        return replace(progress, well=None)
    if progress.well is None:
        return replace(progress, well=now)
    if now - progress.well < plan.settle:
        return progress
    if progress.stage + 1 == len(plan.sizes):
        return replace(progress, status=Status.DONE)
    return replace(progress, stage=progress.stage + 1, since=now, well=None)


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
