"""Random repositories of any size, from a seed: for load tests, and to try gitcfg on."""

from gitcfg.generate.mistakes.planted import MISTAKES
from gitcfg.generate.options import Operations, Options, Types
from gitcfg.generate.profiles import PROFILES, large, small, stress
from gitcfg.generate.repository import files, repository, write

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
