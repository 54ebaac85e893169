"""How long commands take to start, beside Python itself, in one run."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

RUNS = 21
SAMPLE = "sample-repo"
COMMANDS: dict[str, Sequence[str]] = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "gitcfg --version": [sys.executable, "-m", "gitcfg", "--version"],
    "gitcfg --help": [sys.executable, "-m", "gitcfg", "--help"],
    "gitcfg check (sample)": [sys.executable, "-m", "gitcfg", "-C", SAMPLE, "check"],
    "gitcfg check -o json (sample)": [sys.executable, "-m", "gitcfg", "-C", SAMPLE, "check", "-o", "json"],
    "gitcfg explain NODE START (sample)": [
        *(sys.executable, "-m", "gitcfg", "-C", SAMPLE, "explain", "exec01.pool.example.org", "START")
    ],
}


def taken(command: Sequence[str]) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """Print medians; the commands take turns, so that what else runs hits all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            times[name].append(taken(command))
    floor = statistics.median(times["python -c pass"])
    print(f"{'command':<38}{'ms':>8}{'over python':>14}{'x python':>10}")
    for name, found in times.items():
        middle = statistics.median(found)
        print(f"{name:<38}{middle:>8.1f}{middle - floor:>14.1f}{middle / floor:>10.1f}")


if __name__ == "__main__":
    main()
