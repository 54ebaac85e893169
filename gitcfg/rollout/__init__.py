"""How a commit reaches nodes: in which order, how far it has got, and when it goes no further."""

from gitcfg.rollout.plan import Plan, planned
from gitcfg.rollout.progress import (
    Outcome,
    Progress,
    Seen,
    Status,
    aborted,
    advanced,
    overtaken,
    resumed,
    tally,
)
from gitcfg.rollout.target import Rollout, offered

__all__ = [
    "Outcome",
    "Plan",
    "Progress",
    "Rollout",
    "Seen",
    "Status",
    "aborted",
    "advanced",
    "offered",
    "overtaken",
    "planned",
    "resumed",
    "tally",
]
