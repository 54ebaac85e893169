"""Installation on a node: stage, validate, swap, activate, check, or go back. Knows no network.

Standard library only. Everything it does is below a `root` that is handed in, by a policy of the node's
own, under one lock, with a journal by which the next run finishes or takes back what died in the middle.
"""

from __future__ import annotations
