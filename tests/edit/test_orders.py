"""Orders from a file: all or none, and the same as one after another, renames among them."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.cli.main import run
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import carry_out, parse_orders
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.model import GitcfgError
from tests.compile.fleets import mixed
from tests.edit.ordering import Line, drawn, encoded, sayable, words
from tests.seeds import many, mostly_slow

Files = dict[str, str | bytes]


def first(seed: int) -> Files:
    """A repository whose names stand in comments and templates as well."""
    files: Files = dict(repository(replace(mixed(seed), mistakes=())))
    files["templates/names.j2"] = "{# feature001 fresh0 #}{{ params.PARAM001 }} fresh1\n"
    return files


def after(files: Files, lines: list[Line]) -> Files:
    """The files that orders make. GitcfgError: one cannot be carried out."""
    draft = Draft(DictTree(files))
    carry_out(draft, parse_orders(map(encoded, lines)))
    made = {path: text for path, text in draft.files.items() if text is not None}
    return {path: text for path, text in files.items() if path not in draft.files} | made


def fitting(
    rng: Random, files: Files, count: int, suits: Callable[[Line], bool] = bool
) -> tuple[list[Line], list[Line], Files]:
    """Orders that can be carried out one after another, some that cannot behind them, and what they make."""
    lines: list[Line] = []
    refused: list[Line] = []
    for _ in range(count):
        line = drawn(rng, Draft(DictTree(files)))
        if not suits(line):
            continue
        try:
            files = after(files, [line])
        except GitcfgError:
            refused.append(line)
        else:
            lines.append(line)
            refused = []
    return lines, refused, files


@pytest.mark.slow
def test_orders_of_a_file_make_what_they_make_one_after_another() -> None:
    deeds: dict[str, int] = {}
    stopped = 0
    for seed in many(0, 25):
        rng = Random(f"file {seed}")
        files = first(seed % 8)
        lines, refused, made = fitting(rng, files, 16)
        assert {path: _bytes(text) for path, text in after(files, lines).items()} == {
            path: _bytes(text) for path, text in made.items()
        }, lines
        for line in refused:
            with pytest.raises(GitcfgError):
                after(files, [*lines, line])
        stopped += len(refused)
        for line in lines:
            deeds[line["do"]] = deeds.get(line["do"], 0) + 1
    assert deeds["rename"] > 40
    assert min(deeds.values()) > 10
    assert stopped > 10


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.parametrize("seed", mostly_slow(range(2)))
def test_a_file_makes_what_the_same_commands_make(seed: int, tmp_path: Path) -> None:
    rng = Random(f"commands {seed}")
    lines, _, made = fitting(rng, first(seed), 10, sayable)
    for folder in ("one", "each"):
        for path, text in first(seed).items():
            (tmp_path / folder / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / path).write_bytes(_bytes(text))
    (tmp_path / "edits").write_bytes(b"\n".join(map(encoded, lines)))
    assert run(["-C", str(tmp_path / "one"), "modify", "--from", str(tmp_path / "edits"), "--force"]) == 0
    for line in lines:
        assert run(["-C", str(tmp_path / "each"), *words(line), "--force"]) == 0, line
    wanted = {path: _bytes(text) for path, text in made.items()}
    assert held(tmp_path / "one") == held(tmp_path / "each") == wanted
    assert any(line["do"] == "rename" for line in lines)


def held(folder: Path) -> dict[str, bytes]:
    """The files of a repository, without gitcfg's own."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {path: text for path, text in found.items() if not path.startswith(".gitcfg/")}
