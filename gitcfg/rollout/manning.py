"""Who stands for a stage: nodes that are away cannot try a commit out, so others that are there do."""

from msgspec.structs import replace

from gitcfg.rollout.outcomes import Look, is_there
from gitcfg.rollout.plan import Plan


def manned(plan: Plan, stage: int, seen: Look, now: float) -> Plan:
    """The plan in which a stage's nodes that are away have changed places with later ones that are there.

    Else a stage whose nodes are all away would try out nothing. The last one has everybody anyway.
    """
    begin, end = plan.span(stage)
    order = list(plan.order)
    later = (rank for rank in range(end, len(order)) if is_there(seen(order[rank]), now))
    for rank in range(begin, end):
        if not is_there(seen(order[rank]), now):
            other = next(later, None)
            if other is None:
                break
            order[rank], order[other] = order[other], order[rank]
    return replace(plan, order=tuple(order)) if tuple(order) != plan.order else plan
