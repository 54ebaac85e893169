"""Made-up fleets that every tool compared can say in its own format, from a seed."""

from bench.fleet.change import changed, members
from bench.fleet.draw import draw
from bench.fleet.evaluate import params
from bench.fleet.model import DEFAULT, Feature, Fleet, Group, Node, NodeSet, Parameter, Scalar
from bench.fleet.options import FLEETS, Options

__all__ = [
    "DEFAULT",
    "FLEETS",
    "Feature",
    "Fleet",
    "Group",
    "Node",
    "NodeSet",
    "Options",
    "Parameter",
    "Scalar",
    "changed",
    "draw",
    "members",
    "params",
]
