"""How a commit reaches nodes: in which order, how far it has got, and when it goes no further."""

from gitcfg.rollout.advance import advanced
from gitcfg.rollout.manning import manned
from gitcfg.rollout.outcomes import Outcome, Seen, patience, tally
from gitcfg.rollout.plan import Plan, planned
from gitcfg.rollout.progress import Progress, Status, aborted, overtaken, resumed
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
    "manned",
    "offered",
    "overtaken",
    "patience",
    "planned",
    "resumed",
    "tally",
]
