"""A folder of rendered nodes, DIR/NODE/PATH, kept as it is meant whoever ends the program and when."""

from gitcfg.output.made import Ingredients
from gitcfg.output.plan import Scope
from gitcfg.output.settle import Settled, Stale
from gitcfg.output.source import File, FleetSource, Source, Unmade, fleet_source
from gitcfg.output.update import Outcome, Request, update

__all__ = [
    "File",
    "FleetSource",
    "Ingredients",
    "Outcome",
    "Request",
    "Scope",
    "Settled",
    "Source",
    "Stale",
    "Unmade",
    "fleet_source",
    "update",
]
