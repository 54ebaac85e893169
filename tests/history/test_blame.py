"""Blame agrees with brute force over every commit, whatever the history."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given

from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree
from gitcfg.history.blame import Blamer
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Origin
from tests.history.histories import Version, histories, imported
from tests.history.oracle import as_json, strip, without_places
from tests.history.runs import FEW, MANY
from tests.properties.strategies import Files

LABELS = {
    "features": "feature",
    "groups": "group",
    "nodes": "node",
    "nodesets": "node set",
    "overrides": "override",
}
LISTS = ("include", "features", "groups", "without", "labels")

Facts = frozenset[tuple[str, ...]]


def definitions(files: Files) -> Mapping[str, Any]:
    """Every definition by its label, as the loader reads it in a repository that is sound."""
    model = load(DictTree({**files, "gitcfg.yaml": "format: 1\ndefault_group: none-such\n"}))
    found = {kind: getattr(model, folder) for folder, kind in LABELS.items()}
    found["node set"] = {name: nodeset.definition for name, nodeset in model.nodesets.items()}
    return {f"{kind} {name}": each for kind, named in found.items() for name, each in named.items()}


def facts(definition: Any) -> Iterator[tuple[Origin, tuple[str, ...]]]:
    """What a definition says, each with its place."""
    yield definition.origin, ("it is there",)
    for part in ("params", "files"):
        for name, said in getattr(definition, part).items():
            yield said.origin, (part, name, as_json(without_places(said)).decode())
    for part in LISTS:
        given = getattr(definition, part, ())
        removes = getattr(given, "op", None) == "remove"
        for item in getattr(given, "items", given):
            yield item.origin, (part, str(removes), as_json(strip(without_places(item))).decode())


def at(definition: Any, origin: Origin) -> Facts:
    return frozenset(fact for place, fact in facts(definition) if place == origin)


def everything(definition: Any) -> Facts:
    return frozenset(fact for _, fact in facts(definition)) if definition is not None else frozenset()


class Oracle:
    """Blame by loading every version whole."""

    def __init__(self, versions: list[Version]) -> None:
        self.versions = versions
        self.said = [
            {label: everything(found) for label, found in definitions(version.files).items()}
            for version in versions
        ]

    def made(self, label: str, wanted: Facts, number: int) -> int:
        for parent in self.versions[number].parents:
            if wanted <= self.said[parent].get(label, frozenset()):
                return self.made(label, wanted, parent)
        return number


def agrees(versions: list[Version]) -> None:
    oracle = Oracle(versions)
    tip = len(versions) - 1
    with TemporaryDirectory() as folder:
        ids = imported(Path(folder) / "r.git", versions)
        blamer = Blamer(Repository.open(Path(folder) / "r.git"), "main")
        for label, definition in definitions(versions[tip].files).items():
            for origin in dict.fromkeys(place for place, _ in facts(definition)):
                blamed = blamer.of(label, origin)
                expected = oracle.made(label, at(definition, origin), tip)
                assert blamed is not None
                assert blamed.commit == ids[expected], (label, origin)
                assert blamed.subject == f"commit {expected}"


@FEW
@given(versions=histories())
def test_blame_agrees_with_brute_force(versions: list[Version]) -> None:
    agrees(versions)


@pytest.mark.slow
@MANY
@given(versions=histories(20, 40))
def test_blame_in_long_histories_agrees_with_brute_force(versions: list[Version]) -> None:
    agrees(versions)


@FEW
@given(versions=histories(4, 8))
def test_the_work_tree_is_compared_with_the_last_commit_first(versions: list[Version]) -> None:
    *committed, last = versions
    oracle = Oracle(committed)
    head = len(committed) - 1
    files = {**last.files, "gitcfg.yaml": "format: 1\n"}
    with TemporaryDirectory() as folder:
        ids = imported(Path(folder) / "r.git", committed)
        work = checkout(Path(folder), files)
        blamer = Blamer(Repository.open(work), None)
        for label, definition in definitions(files).items():
            for origin in dict.fromkeys(place for place, _ in facts(definition)):
                blamed = blamer.of(label, origin)
                wanted = at(definition, origin)
                if wanted <= oracle.said[head].get(label, frozenset()):
                    assert blamed is not None
                    assert blamed.commit == ids[oracle.made(label, wanted, head)], (label, origin)
                else:
                    assert blamed is None, (label, origin)


def checkout(folder: Path, files: Files) -> Path:
    """A work tree beside a bare repository, with these files in it."""
    work = folder / "work"
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", "r.git", "work"], cwd=folder, check=True)
    for path, text in files.items():
        place = work / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return work


BASE = {
    "gitcfg.yaml": "format: 1\n",
    "features/A.yaml": "params:\n  P: 1\n  Q: {$append: x}\nfiles:\n  /a: {text: a}\n",
    "groups/G.yaml": "features: [A, {feature: B, as: 'x[1-2]'}]\n",
}
NEXT: list[dict[str, str | None]] = [
    {"features/A.yaml": "# moved below\nfiles:\n  /a: {text: a}\nparams:\n  Q: {$append: [y]}\n  P: 1\n"},
    {
        "features/A.yaml": None,
        "features/sub/A.yaml": "params:\n  P: 1\n  Q: {$append: [y]}\nfiles:\n  /a: {text: b}\n",
    },
    {"groups/G.yaml": "features: [{feature: B, as: 'x[1-3]'}, A]\nparams: {R: null}\n"},
    {"features/sub/A.yaml": "params:\n  P: '1'\n  Q: {$append: [y]}\nfiles:\n  /a: {text: b}\n"},
]


@pytest.fixture
def pool(tmp_path: Path) -> tuple[Repository, dict[str, int]]:
    versions = [Version([], BASE)]
    for number, changes in enumerate(NEXT):
        files = {**versions[-1].files, **{path: text for path, text in changes.items() if text is not None}}
        kept = {path: text for path, text in files.items() if changes.get(path, "") is not None}
        versions.append(Version([number], kept))
    ids = imported(tmp_path / "r.git", versions)
    return Repository.open(tmp_path / "r.git"), {commit: number for number, commit in enumerate(ids)}


@pytest.mark.parametrize(
    ("label", "file", "line", "column", "made"),
    [
        ("feature A", "features/sub/A.yaml", 2, 3, 4),  # P became text
        ("feature A", "features/sub/A.yaml", 3, 3, 1),  # Q: moving its file and its line made no difference
        ("feature A", "features/sub/A.yaml", 5, 3, 2),  # /a
        ("feature A", "features/sub/A.yaml", 1, 1, 0),  # the feature itself
        ("group G", "groups/G.yaml", 1, 22, 3),  # B, as one instance more
        ("group G", "groups/G.yaml", 1, 40, 0),  # A, which only changed its place in the list
        ("group G", "groups/G.yaml", 2, 10, 3),  # R
    ],
)
def test_an_entry_is_blamed_on_who_made_it_so(
    pool: tuple[Repository, dict[str, int]], label: str, file: str, line: int, column: int, made: int
) -> None:
    repository, numbers = pool
    blamed = Blamer(repository, "main").of(label, Origin(file, line, column))
    assert blamed is not None
    assert numbers[blamed.commit] == made
    assert (blamed.author, blamed.email) == ("Ann", "ann@example.org")
    assert blamed.date == f"2023-11-14T23:{13 + made}:20+01:00"


def test_where_nothing_stands_nobody_can_be_blamed(pool: tuple[Repository, dict[str, int]]) -> None:
    with pytest.raises(GitcfgError, match=r"There is nothing of feature A at features/A.yaml:9:9."):
        Blamer(pool[0], "main").of("feature A", Origin("features/A.yaml", 9, 9))


def test_before_the_first_commit_nobody_is_to_blame(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for path, text in BASE.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert Blamer(Repository.open(tmp_path), None).of("feature A", Origin("features/A.yaml", 2, 3)) is None


def test_a_folder_without_git_has_no_history(tmp_path: Path) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    with pytest.raises(GitcfgError, match="is not a git repository, so it has no history"):
        Blamer(Repository.open(tmp_path), None)
