"""How long trees take to load: from files, from packs, and as far as one node needs them.

`python -m bench.load [REPOSITORY]` measures HEAD of a repository, else fleets that it makes in memory.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, Tree
from gitcfg.load import yaml
from gitcfg.load.repository import load
from gitcfg.model import Model

T = TypeVar("T")

RUNS = 7


class Dictionary:
    """Keeps answers in memory, encoded."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}

    def get(self, question: str, kind: type[T]) -> T | None:
        data = self.answers.get(question)
        return None if data is None else msgspec.msgpack.decode(data, type=kind)

    def put(self, question: str, answer: Any) -> None:
        self.answers[question] = msgspec.msgpack.encode(answer)


def small_files() -> Tree:
    """10,000 nodes with files of their own, which say little."""
    files = {"gitcfg.yaml": "format: 1\n"}
    for number in range(10_000):
        groups = ", ".join(f'"group{(number * step) % 97:03}"' for step in (1, 3, 5, 7, 11))
        facts = f'facts:\n  "cores": {number % 128}\n  "site": "north"\n  "ssd": true\n'
        files[f"nodes/node{number:05}.example.com.yaml"] = f'groups: [{groups}]\nlabels: ["a"]\n{facts}'
    return DictTree(files)


def large_files() -> Tree:
    """2,000 nodes of which each says 470 parameters."""
    files = {"gitcfg.yaml": "format: 1\n"}
    for number in range(2_000):
        params = "".join(f"  SLOT_TYPE_{param}: cpus={param + number}\n" for param in range(470))
        files[f"nodes/node{number:04}.yaml"] = f"params:\n{params}"
    return DictTree(files)


def one_file() -> Tree:
    """As many parameters declared in one file as a file may hold."""
    said = "{description: What it is for., type: string, default: value, restart: true}"
    lines = "".join(f"  PARAM_{number:05}: {said}\n" for number in range(10_000))
    return DictTree({"gitcfg.yaml": "format: 1\n", "parameters/p.yaml": f"parameters:\n{lines}"})


def everything(model: Model) -> None:
    """Read all there is."""
    len(model.findings)
    for kind in (model.nodes, model.features, model.groups, model.nodesets, model.overrides):
        kind.values()


def names(model: Model) -> None:
    """What a command about one node needs of the others."""
    _ = "nobody" in model.nodes, len(model.parameters), len(model.nodesets), list(model.overrides.values())


def one_node(model: Model) -> None:
    """One node with its groups."""
    names(model)
    for name in list(model.nodes)[:1]:
        _ = [model.groups.get(ref.name) for ref in model.nodes[name].groups.items]


def cases(tree: Tree) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is measured, each with its name."""
    texts = [
        tree.read(entry)
        for folder in ("nodes", "features", "groups", "parameters")
        for entry in tree.entries(folder)
    ]
    keeper = Dictionary()
    everything(load(tree, keeper))
    yield "libyaml's events alone", lambda: sum(1 for text in texts for _ in yaml.events(text))
    yield "everything from files", lambda: everything(load(tree))
    yield "everything from files, packed", lambda: everything(load(tree, Dictionary()))
    yield "everything from packs", lambda: everything(load(tree, keeper))
    yield "names, from packs", lambda: names(load(tree, keeper))
    yield "one node, from files", lambda: one_node(load(tree))
    yield "one node, from packs", lambda: one_node(load(tree, keeper))


def measure(title: str, tree: Tree) -> None:
    """Print medians of CPU time; the cases take turns, so that what else runs hits all of them alike."""
    taken: dict[str, list[float]] = {}
    todo = list(cases(tree))
    for _ in range(RUNS):
        for name, case in todo:
            start = time.process_time()
            case()
            taken.setdefault(name, []).append(time.process_time() - start)
    print(f"{title:<46}{'median ms':>10}{'least ms':>10}")
    for name, times in taken.items():
        print(f"  {name:<44}{statistics.median(times) * 1000:>10.1f}{min(times) * 1000:>10.1f}")


def main() -> None:
    """Measure a repository, or fleets of known shape, without the garbage collector."""
    gc.disable()
    if len(sys.argv) > 1:
        measure(sys.argv[1], Repository.open(Path(sys.argv[1])).at("HEAD"))
        return
    for make in (small_files, large_files, one_file):
        measure((make.__doc__ or "").split("\n")[0], make())


if __name__ == "__main__":
    main()
