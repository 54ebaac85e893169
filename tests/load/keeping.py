"""What the tests of packs share: a keeper, a tree that tells what was read of it, repositories and edits."""

import random
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from gitcfg.generate import Options, repository
from gitcfg.generate.repository import MISTAKES
from gitcfg.git.tree import DictTree, Entry
from gitcfg.load.repository import load
from gitcfg.model import Model

T = TypeVar("T")
Files = dict[str, str]

KINDS = (
    "parameters",
    "subsystems",
    "features",
    "groups",
    "nodes",
    "nodesets",
    "overrides",
    "secrets",
    "rules",
    "allocations",
)


class Dictionary:
    """Answers in memory, encoded as on disk; `written` counts how often one was kept."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.written = 0

    def get(self, question: str, kind: type[T]) -> T | None:
        try:
            return msgspec.msgpack.decode(self.answers[question], type=kind)
        except (KeyError, ValueError):
            return None

    def put(self, question: str, answer: Any) -> None:
        self.answers[question] = msgspec.msgpack.encode(answer)
        self.written += 1

    def bodies(self) -> dict[str, dict[str, bytes]]:
        """What the packs hold, by question."""
        decode = msgspec.msgpack.decode
        return {asked: decode(data, type=dict[str, bytes]) for asked, data in self.answers.items()}


class Watched(DictTree):
    """A tree that remembers which of its files were read."""

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__(files)
        self.reads: list[str] = []

    def read(self, entry: Entry) -> bytes:
        self.reads.append(entry.path)
        return super().read(entry)

    def size_of(self, entry: Entry) -> int:
        return len(self.files[entry.path])  # type: ignore[arg-type]


def said(model: Model) -> tuple[Any, ...]:
    """All that a model says, in its order, in a form in which even what is no number equals itself."""
    kinds = [[(name, repr(found)) for name, found in getattr(model, kind).items()] for kind in KINDS]
    unread = {kind: sorted(names) for kind, names in model.unread.items()}
    names = sorted(model.templates), sorted(model.sources)
    return model.settings, kinds, names, unread, [repr(finding) for finding in model.findings]


def read_at(files: Mapping[str, str], keeper: Dictionary | None = None) -> tuple[Any, ...]:
    """All that is said of a repository in memory."""
    return said(load(DictTree(files), keeper))


def drawn(seed: int) -> Files:
    """A random repository with mistakes."""
    chance = random.Random(seed)
    mistakes = tuple(chance.sample(sorted(MISTAKES), chance.randrange(5)))
    shape = Options(
        seed=seed,
        nodes=8,
        features=8,
        parameters=20,
        sets=0.5,
        set_files=0.4,
        identity=0.5,
        without=0.3,
        overrides=3,
        secrets=3,
    )
    return dict(repository(msgspec.structs.replace(shape, mistakes=mistakes)))


def edited(files: Files, seed: int) -> Files:
    """The same repository after some files were changed for better or worse, moved, added or deleted."""
    chance = random.Random(seed)
    result = dict(files)
    for path in chance.sample([path for path in files if path != "gitcfg.yaml"], 6):
        _edit(result, path, chance)
    return result


def _edit(files: Files, path: str, chance: random.Random) -> None:
    text = files.pop(path)
    folder, _, name = path.rpartition("/")
    lines = text.split("\n")
    line = chance.randrange(len(lines))
    options = [
        {},
        {path: text + "# seen\n"},
        {path: "\n".join(lines[:line])},
        {path: "\n".join([*lines[:line], chance.choice(lines), *lines[line:]])},
        {path: text, f"{folder}/sub/{name}": text},
        {path: text, f"{folder}/{name.upper()}": text},
        {f"{folder}/moved/{name}": text},
        {path: text.replace(":", ": ", 1).replace("true", "maybe")},
    ]
    files.update(chance.choice(options))
