"""How long a push waits for the gate, beside the same push to a server that judges nothing.

`python -m bench.gate [FLEET]`: medians of some runs over one of bench's fleets, else over *large*.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.fleet.draw import draw
from bench.fleet.options import FLEETS
from bench.fleet.repository import files

RUNS = 5
GITCFG = f"{sys.executable} -m gitcfg --no-pager"
HOOK = (
    "#!/bin/sh\n"
    f'exec {sys.executable} -m bench.gate --measured {GITCFG} hook pre-receive 3>>"$GIT_DIR/kilobytes"\n'
)
_IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Bench"), ("EMAIL", "bench@example.org"))
}


def git(folder: Path, *words: str) -> None:
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=False,
        capture_output=True,
        env=os.environ | _IDENTITY | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    if done.returncode:
        sys.exit(done.stderr.decode())


def measured(words: list[str]) -> int:
    """Run a hook, and write down its peak of memory."""
    code = subprocess.call(words)
    os.write(3, f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\n".encode())
    return code


class Bench:
    """A server with the gate, one without, and a desk."""

    def __init__(self, home: Path, fleet: str) -> None:
        self.desk, self.gate, self.plain = home / "desk", home / "gate.git", home / "plain.git"
        self._number = 0
        for path, text in files(draw(FLEETS[fleet])):
            place = self.desk / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        git(self.desk, "init", "--quiet", "--initial-branch=main")
        self.commit()
        for server in (self.gate, self.plain):
            git(home, "init", "--quiet", "--bare", "--initial-branch=main", str(server))
            git(self.desk, "push", "--quiet", str(server), "main")
        (self.gate / "hooks/pre-receive").write_text(HOOK)
        (self.gate / "hooks/pre-receive").chmod(0o755)

    def commit(self) -> None:
        """Commit what lies there."""
        git(self.desk, "add", "--all")
        git(self.desk, "commit", "--quiet", "--allow-empty", "-m", "A change")

    def change_a_group(self) -> None:
        """One group's values."""
        self._number += 1
        places = sorted((self.desk / "groups").glob("*.yaml"))
        place = places[len(places) // 2]
        lines = place.read_text().splitlines()
        at = next(n for n, line in enumerate(lines) if line.lstrip(' "').startswith("STRING_"))
        name = lines[at].partition(":")[0]
        lines[at] = f'{name}: "changed{self._number}"'
        place.write_text("\n".join(lines) + "\n")
        self.commit()

    def warm(self) -> None:
        """What post-receive does."""
        subprocess.run([*GITCFG.split(), "-C", str(self.gate), "check", "--no-parsers"], capture_output=True)

    def cold(self) -> None:
        for place in (self.gate / "gitcfg").glob("*"):
            place.unlink()

    def pushed(self, *words: str) -> tuple[float, float]:
        """Seconds that a push to the gate, and to the plain server, takes."""
        return self._pushed(self.gate, words), self._pushed(self.plain, words)

    def _pushed(self, server: Path, words: tuple[str, ...]) -> float:
        start = time.perf_counter()
        git(self.desk, "push", "--quiet", str(server), *words)
        return time.perf_counter() - start

    @property
    def peak(self) -> float:
        """MiB of the hook that took most."""
        return max(map(int, (self.gate / "kilobytes").read_text().split())) / 1024


def main(fleet: str) -> None:
    with tempfile.TemporaryDirectory(prefix="gitcfg-bench-") as folder:
        bench = Bench(Path(folder), fleet)
        rows: dict[str, list[tuple[float, float]]] = {}
        for number in range(RUNS):
            for name, prepare in (("cold", bench.cold), ("warm", bench.warm)):
                bench.change_a_group()
                prepare()
                rows.setdefault(f"one group changed, {name}", []).append(bench.pushed("main"))
            rows.setdefault("nothing to judge", []).append(bench.pushed(f"main:refs/heads/same{number}"))
        print(f"{fleet}: a push to a server with the gate, and without (seconds, medians of {RUNS})")
        for name, pairs in rows.items():
            gate, plain = (statistics.median(times) for times in zip(*pairs, strict=True))
            print(f"{name:28} {gate:6.2f} {plain:6.2f}   the hook: {gate - plain:5.2f}")
        print(f"the hook's peak of memory: {bench.peak:.0f} MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measured"]:
        sys.exit(measured(sys.argv[2:]))
    main(sys.argv[1] if len(sys.argv) > 1 else "large")
