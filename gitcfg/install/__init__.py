"""Installation on a node: stage, validate, swap, activate, check, or roll back. It uses no network.

Standard library only. Everything happens below a given `root`, within the node's own policy and under one
lock. A journal allows the next run to finish or roll back an interrupted installation.
"""

from __future__ import annotations
