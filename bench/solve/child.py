"""One problem solved in one way, in a process of its own: what that took, without making the problem."""

import json
import sys
import time

from bench.solve.problems import PROBLEMS
from bench.solve.ways import WAYS


def main() -> None:
    """`child.py WAY PROBLEM` prints seconds of CPU and wall, and what the answer costs."""
    way, problem = WAYS[sys.argv[1]], PROBLEMS[sys.argv[2]]()
    cpu, wall = time.process_time(), time.monotonic()
    changes, count = way(problem)
    print(
        json.dumps(
            {
                "cpu": time.process_time() - cpu,
                "wall": time.monotonic() - wall,
                "changes": changes,
                "count": count,
            }
        )
    )


if __name__ == "__main__":
    main()
