"""How much processor time commands take to start, beside Python itself, in one run."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

RUNS = 20
SAMPLE = "sample-repo"
SETTINGS = """server = "http://127.0.0.1:9"
server_key = "ed25519:4ZJkYkJ2nKXcQv3m1h0mB4X2uN4m7cQ1q0xSxw5zv0E="
node = "n1"
"""
"""Of a node whose server is away: `run --once` does all but to read an answer, and ends with 5."""


def commands(node: str) -> Mapping[str, Sequence[str]]:
    """By what they are called; `node` is the root folder of a node."""
    python, repository = [sys.executable], [sys.executable, "-m", "gitcfg", "-C", SAMPLE]
    agent = [*python, "-c", "from gitcfg.agent.main import program; program()"]
    return {
        "python -c pass": [*python, "-c", "pass"],
        "gitcfg --version": [*python, "-m", "gitcfg", "--version"],
        "gitcfg --help": [*python, "-m", "gitcfg", "--help"],
        "gitcfg check (sample)": [*repository, "check"],
        "gitcfg check -o json (sample)": [*repository, "check", "-o", "json"],
        "gitcfg explain NODE START (sample)": [*repository, "explain", "exec01.pool.example.org", "START"],
        "gitcfg-agent --version": [*agent, "--version"],
        "gitcfg-agent status": [*agent, "status", "--root", node],
        "gitcfg-agent drift": [*agent, "drift", "--root", node],
        "gitcfg-agent run --once (no server)": [*agent, "run", "--once", "--root", node],
    }


def taken(command: Sequence[str]) -> float:
    """Milliseconds of processor time of one run."""
    before = _used()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    if done.returncode not in (0, 5):
        sys.exit(f"{command} ended with {done.returncode}.")
    return (_used() - before) * 1000


def _used() -> float:
    """Seconds of all commands so far."""
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def main() -> None:
    """Print the least and the middle; commands take turns, so that what else runs hits all of them alike."""
    with tempfile.TemporaryDirectory() as node:
        settings = Path(node, "etc/gitcfg/agent.toml")
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS, encoding="utf-8")
        asked = commands(node)
        times: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(RUNS + 1):
            for name, command in asked.items():
                times[name].append(taken(command))
    # The first of each compiles what was changed.
    kept = {name: found[1:] for name, found in times.items()}
    floor = min(kept["python -c pass"])
    print(f"{'command':<38}{'least ms':>10}{'over python':>14}{'middle ms':>12}")
    for name, found in kept.items():
        print(f"{name:<38}{min(found):>10.1f}{min(found) - floor:>14.1f}{statistics.median(found):>12.1f}")


if __name__ == "__main__":
    main()
