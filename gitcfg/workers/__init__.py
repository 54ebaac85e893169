"""Work on several cores: forked workers inherit what was computed so far, and answers come in order."""

from gitcfg.workers.spread import Work, spread

__all__ = ["Work", "spread"]
