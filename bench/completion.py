"""How long a shell waits for candidates, beside Python itself: on the sample, and on 100,000 nodes."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

RUNS = 21
SAMPLE = Path("sample-repo")
GITCFG = [sys.executable, "-m", "gitcfg"]


def taken(command: Sequence[str], folder: Path) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def cases(large: Path) -> dict[str, tuple[Sequence[str], Path]]:
    """What is measured: a command, and the folder that it runs in."""
    asked = {
        "a command": "ex",
        "an option": "explain --",
        "a revision": "check --at m",
        "a group": "render @B",
        "a node": "explain exec0",
        "a parameter": "explain exec01.pool.example.org ST",
        "any parameter": "explain exec01.pool.example.org ",
        "a file": "render --file /",
    }
    found: dict[str, tuple[Sequence[str], Path]] = {
        "python -c pass": ([sys.executable, "-c", "pass"], SAMPLE),
        "gitcfg --version": ([*GITCFG, "--version"], SAMPLE),
    }
    for name, line in asked.items():
        found[name] = ([*GITCFG, "--complete", "zsh", *line.split(" ")], SAMPLE)
    for name, line in {"a node of 100,000": "explain n0123", "any of 100,000": "explain "}.items():
        found[name] = ([*GITCFG, "--complete", "zsh", *line.split(" ")], large)
    return found


def many_nodes(folder: Path) -> None:
    """A repository with 100,000 nodes, half of them in a set, half with a file each."""
    (folder / "gitcfg.yaml").write_text("format: 1\n")
    (folder / "nodesets").mkdir()
    (folder / "nodesets/all.yaml").write_text("nodes: n[00001-50000].example.org\n")
    for number in range(50_001, 100_001):
        place = folder / f"nodes/{number // 1000}/n{number:05}.example.org.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("groups: []\n")


def main() -> None:
    """Print medians; the commands take turns, so that what else runs hits all of them alike."""
    with tempfile.TemporaryDirectory() as folder:
        many_nodes(Path(folder))
        measured = cases(Path(folder))
        times: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(RUNS):
            for name, (command, place) in measured.items():
                times[name].append(taken(command, place))
    floor = statistics.median(times["python -c pass"])
    print(f"{'candidates for':<26}{'ms':>8}{'over python':>14}{'least ms':>10}")
    for name, found in times.items():
        middle = statistics.median(found)
        print(f"{name:<26}{middle:>8.1f}{middle - floor:>14.1f}{min(found):>10.1f}")


if __name__ == "__main__":
    main()
