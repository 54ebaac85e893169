"""Encrypted files of the history: what was said of them when they stood there last."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.gate.secrets import FileHistory
from gitcfg.git.repository import Repository
from gitcfg.model.age import header
from tests.git.test_history import Modes, git, imported

PLACES = ("secrets/a", "secrets/b", "secrets/deep/a2", "secrets/deep/c.d")
_MADE = 5

Folder = tuple[tuple[int, int], ...]

_HELD: st.SearchStrategy[tuple[int, int]] = st.tuples(st.integers(0, 2), st.integers(0, _MADE))
"""Which `for` stands at a place, and which encrypted file; 0: none."""
_FOLDERS = st.lists(st.tuples(*[_HELD] * len(PLACES)), min_size=1, max_size=8)


def sealed(number: int) -> str:
    """An encrypted file as it looks to who has no key; its identity differs by number."""
    stanza = f"-> X25519 {number:043}\n{'A' * 43}\n"
    return f"age-encryption.org/v1\n{stanza}--- {'B' * 43}\n{'x' * 40}"


def identity(number: int) -> str:
    return header(sealed(number).encode()).identity


def files(folder: Folder) -> Modes:
    found: Modes = {"gitcfg.yaml": ("100644", "format: 1\n")}
    for place, (where, content) in zip(PLACES, folder, strict=True):
        if where:
            found[f"{place}.yaml"] = ("100644", f"for: 'level == {where}'\nversion: 1\nrecipients: [x]\n")
        if content:
            found[f"{place}.age"] = ("100644", sealed(content))
    return found


def expected(folders: list[Folder], number: int) -> set[str]:
    """The conditions of an encrypted file, found by going through everything."""
    tip = folders[-1]
    for folder, since in ((folders[at], folders[at:]) for at in reversed(range(len(folders)))):
        holders = [place for place, (where, content) in enumerate(folder) if where and content == number]
        if holders:
            gone = {place for place in holders if not all(other[place][0] for other in since)}
            levels = {folder[place][0] for place in gone} | {tip[place][0] for place in holders}
            return {f"level == {level}" for level in levels if level}
    return set()


@settings(max_examples=25)
@given(_FOLDERS)
def test_what_counts_is_found_by_going_through_everything(folders: list[Folder]) -> None:
    with tempfile.TemporaryDirectory() as place:
        commits = imported(Path(place), [files(folder) for folder in folders])
        former = FileHistory(Repository.served(place), (commits[-1],))
        for number in range(1, _MADE + 1):
            assert conditions(former, number) == expected(folders, number)


@settings(max_examples=10)
@given(_FOLDERS, _FOLDERS)
def test_other_branches_are_asked_for_what_the_first_never_had(
    one: list[Folder], other: list[Folder]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first = imported(folder, [files(each) for each in one])[-1]
        git(folder, "update-ref", "refs/heads/first", first)
        git(folder, "update-ref", "-d", "refs/heads/main")
        second = imported(folder, [files(each) for each in other])[-1]
        former = FileHistory(Repository.served(place), (first, second))
        for number in range(1, _MADE + 1):
            theirs = () if had(one, number) else expected(other, number)
            assert conditions(former, number) == (expected(one, number) or set(theirs))


def test_a_merge_that_drops_a_secret_ends_it(tmp_path: Path) -> None:
    """In both parents it stands there all the time, and in neither is it gone."""
    kept, gone = ((1, 1), *((0, 0),) * 3), ((0, 0),) * 4
    first, second, empty = imported(tmp_path, [files(kept), files(((2, 2), *gone[1:])), files(gone)])
    tree = git(tmp_path, "rev-parse", f"{empty}^{{tree}}")
    merge = git(tmp_path, "commit-tree", "-m", "m", "-p", first, "-p", second, tree)
    again = git(tmp_path, "rev-parse", f"{second}^{{tree}}")
    last = git(tmp_path, "commit-tree", "-m", "x", "-p", merge, again)
    assert conditions(FileHistory(Repository.served(tmp_path), (last,)), 1) == {"level == 1", "level == 2"}


def conditions(former: FileHistory, number: int) -> set[str]:
    return {secret.where.name for secret in former.secrets_of(identity(number)) if secret.where is not None}


def had(folders: list[Folder], number: int) -> bool:
    return any(where and content == number for folder in folders for where, content in folder)
