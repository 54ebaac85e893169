"""Random repositories of any size, from a seed: for load tests, and for trying out gitcfg."""

from gitcfg.generate.options import PROFILES, Operations, Options, Types, large, small, stress
from gitcfg.generate.repository import MISTAKES, files, repository, write

__all__ = [
    "MISTAKES",
    "PROFILES",
    "Operations",
    "Options",
    "Types",
    "files",
    "large",
    "repository",
    "small",
    "stress",
    "write",
]
