"""The naive evaluator: what a repository means, in the most straightforward way, to judge gitcfg by.

Written from the contract's words alone. It shares nothing with the program and nothing between nodes.
"""

from tests.reference.evaluate import Answer, Step, evaluate
from tests.reference.judge import judge
from tests.reference.repository import Repository, read_repository

__all__ = ["Answer", "Repository", "Step", "evaluate", "judge", "read_repository"]
