"""How long `gitcfg log` takes on 5,000 commits, beside git's own log and beside compiling every commit."""

import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gitcfg
from gitcfg.generate.options import Options
from gitcfg.generate.repository import repository
from gitcfg.load.document import parse
from gitcfg.load.yaml import dump

COMMITS = 5_000
SAMPLE = 50
RUNS = 3
OPTIONS = Options(
    seed=7,
    nodes=150,
    groups=24,
    features=50,
    parameters=250,
    memberships=3,
    feature_params=6,
    sets=0.4,
    overrides=4,
)
LAYERS = ("features/", "groups/", "nodes/", "nodesets/", "overrides/")


class Edits:
    """Small edits of a repository, as people make them; each gives the paths that it changed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.files: dict[str, Any] = {
            path: parse(path, text.encode()).value for path, text in repository(OPTIONS).items()
        }
        self.remarks: dict[str, int] = {}
        self.number = 0

    def text(self, path: str) -> str:
        remark = f"# remark {self.remarks[path]}\n" if path in self.remarks else ""
        return dump(self.files[path]) + remark

    def edit(self) -> str:
        self.number += 1
        kinds = (
            self.value,
            self.binding,
            self.groups,
            self.features,
            self.declaration,
            self.node,
            self.override,
        )
        chosen = self.rng.choices((*kinds, self.remark), weights=(57, 10, 10, 4, 3, 5, 4, 7))[0]
        return chosen() or self.edit()

    def pick(self, *folders: str) -> str:
        return self.rng.choice([path for path in sorted(self.files) if path.startswith(folders)])

    def value(self) -> str | None:
        path = self.pick(*LAYERS)
        params = self.files[path].get("params")
        if not params:
            return None
        name = self.rng.choice(sorted(params))
        params[name] = self.other(params[name])
        return path

    def other(self, value: Any) -> Any:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return value + self.rng.randint(1, 9)
        if isinstance(value, list):
            return [*value[:3], f"item-{self.number}"]
        if isinstance(value, dict) and "$unset" in value:
            return None
        if isinstance(value, dict):
            return {key: self.other(inner) for key, inner in value.items()} if value else {"key": self.number}
        return f"value-{self.number}"

    def binding(self) -> str:
        path = self.pick(*LAYERS)
        params = self.files[path].setdefault("params", {})
        if params and self.rng.random() < 0.5:
            del params[self.rng.choice(sorted(params))]
        else:
            params[self.rng.choice(sorted(self.declared()))] = None
        return path

    def declared(self) -> dict[str, Any]:
        files = (found for path, found in self.files.items() if path.startswith("parameters/"))
        return {
            name: said for found in files for name, said in found["parameters"].items() if "*" not in name
        }

    def groups(self) -> str:
        path = self.pick("nodes/", "nodesets/")
        names = [found[len("groups/") : -len(".yaml")] for found in self.files if found.startswith("groups/")]
        found = self.files[path].get("groups")
        listed = list(found) if isinstance(found, list) else []
        name = self.rng.choice(sorted(set(names) - {"default"}))
        self.files[path]["groups"] = (
            [each for each in listed if each != name] if name in listed else [name, *listed]
        )
        return path

    def features(self) -> str:
        path = self.pick("groups/")
        names = [
            found[len("features/") : -len(".yaml")] for found in self.files if found.startswith("features/")
        ]
        name = self.rng.choice(sorted(names))
        listed = self.files[path].get("features", [])
        gone = [each for each in listed if each != name]
        self.files[path]["features"] = gone if name in listed else [*listed, name]
        return path

    def declaration(self) -> str:
        path = self.pick("parameters/")
        said = self.files[path]["parameters"]
        name = self.rng.choice(sorted(said))
        said[name] = {**(said[name] or {}), "description": f"Said in {self.number}."}
        return path

    def node(self) -> str | None:
        new = [path for path in sorted(self.files) if path.startswith("nodes/new")]
        if new and self.rng.random() < 0.4:
            path = self.rng.choice(new)
            del self.files[path]
            return path
        path = f"nodes/new{self.number}.example.com.yaml"
        self.files[path] = {"params": {self.rng.choice(sorted(self.declared())): None}}
        return path

    def override(self) -> str | None:
        new = [path for path in sorted(self.files) if path.startswith("overrides/new")]
        if new and self.rng.random() < 0.6:
            path = self.rng.choice(new)
            del self.files[path]
            return path
        path = f"overrides/new{self.number}.yaml"
        node = self.pick("nodes/")[len("nodes/") : -len(".yaml")]
        params = {self.rng.choice(sorted(self.declared())): None}
        self.files[path] = {"nodes": node, "reason": "trial", "until": "2999-12-31", "params": params}
        return path

    def remark(self) -> str:
        path = self.pick(*LAYERS)
        self.remarks[path] = self.number
        return path


def stream(edits: Edits) -> Iterator[str]:
    """What `git fast-import` reads: a line of commits, with a branch of three commits every 50."""
    yield from commit(edits, 1, [], list(edits.files))
    mark = last = 1
    while mark < COMMITS:
        if mark % 50 or mark + 6 > COMMITS:
            mark += 1
            yield from commit(edits, mark, [last], [edits.edit()])
            last = mark
            continue
        base, changed = last, [edits.edit() for _ in range(3)]
        for parent, path in zip((base, mark + 1, mark + 2), changed, strict=True):
            mark += 1
            yield from commit(edits, mark, [parent], [path])
        yield from commit(edits, mark + 1, [base], [edits.edit()])
        yield from commit(edits, mark + 2, [mark + 1, mark], changed)
        mark = last = mark + 2


def commit(edits: Edits, mark: int, parents: Sequence[int], paths: Sequence[str]) -> Iterator[str]:
    who = f"Ann <ann@example.org> {1_600_000_000 + mark * 600} +0000"
    yield f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}\n{data(f'edit {mark}')}"
    words = ("from", "merge")
    yield from (f"{word} :{parent}\n" for word, parent in zip(words, parents, strict=False))
    for path in paths:
        there = path in edits.files
        yield f"M 100644 inline {path}\n{data(edits.text(path))}" if there else f"D {path}\n"
    yield "\n"


def data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def made(folder: Path) -> Path:
    """A bare repository with the history."""
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(folder)], check=True)
    text = "".join(stream(Edits(7))).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=text, check=True)
    return folder


def questions(pool: Path) -> dict[str, list[str]]:
    """What concerns most: the node with most parameters, the parameter, feature and group of most nodes."""
    with gitcfg.open(pool).at("main") as fleet:
        nodes = {name: fleet[name] for name in fleet}
        node = max(nodes, key=lambda name: len(nodes[name].params))
        param = most(name for found in nodes.values() for name in found.params if "$" not in name)
        feature = most(name for found in nodes.values() for name in found.features)
        group = most(name for found in nodes.values() for name in found.groups)
        print(f"{len(fleet)} nodes, the largest with {len(nodes[node].params)} parameters")
    return {
        "node": [node],
        "parameter": [param, "--kind", "param"],
        "feature": [feature, "--kind", "feature"],
        "group": [group, "--kind", "group"],
        "node's parameter": [node, max(nodes[node].params, key=str)],
    }


def most(names: Iterator[str]) -> str:
    return statistics.mode(sorted(names))


def taken(command: Sequence[str], cwd: Path) -> tuple[float, int]:
    """Seconds of one run, and the lines it wrote."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    return time.perf_counter() - start, done.stdout.count(b"\n")


def compiled(pool: Path) -> float:
    """Seconds to compile every commit whole, as far as a sample tells."""
    ids = subprocess.run(["git", "rev-list", "main"], cwd=pool, check=True, capture_output=True, text=True)
    chosen = ids.stdout.split()[:: COMMITS // SAMPLE]
    source = gitcfg.open(pool)
    start = time.perf_counter()
    for one in chosen:
        fleet = source.at(one)
        for name in fleet:
            _ = fleet[name].params
    return (time.perf_counter() - start) / len(chosen) * COMMITS


def main() -> None:
    """Print the fastest of some runs; commands take turns, so that what else runs hits all of them alike."""
    with tempfile.TemporaryDirectory() as folder:
        pool = made(Path(folder) / "pool.git")
        asked = questions(pool)
        git = ["git", "log", "--oneline", "main", "--", "nodes"]
        log = [sys.executable, "-m", "gitcfg", "-C", str(pool), "log", "--at", "main"]
        times: dict[str, list[tuple[float, int]]] = {}
        for _ in range(RUNS):
            times.setdefault("git log -- nodes", []).append(taken(git, pool))
            shutil.rmtree(pool / "gitcfg", ignore_errors=True)
            for state in ("cold", "warm"):
                for name, words in asked.items():
                    times.setdefault(f"gitcfg log, a {name}, {state}", []).append(
                        taken([*log, *words], Path.cwd())
                    )
        floor, whole = min(times["git log -- nodes"])[0], compiled(pool)
        print(f"{'':<40}{'s':>8}{'lines':>8}{'x git log':>11}{'x compiling all':>17}")
        for name, found in times.items():
            best, lines = min(found)
            print(f"{name:<40}{best:>8.2f}{lines:>8}{best / floor:>11.1f}{best / whole:>17.4f}")
        print(
            f"{'compiling every commit (extrapolated)':<40}{whole:>8.2f}{'':>8}{whole / floor:>11.1f}{1:>17}"
        )


if __name__ == "__main__":
    main()
