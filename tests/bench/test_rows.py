"""Rows: states of the cache, judges of diffs, what a session asks for, and gitcfg's own commands."""

import json
import sys
from pathlib import Path

import msgspec
import pytest

from bench.__main__ import asked, options
from bench.fleet import FLEETS, changed, draw, members, params
from bench.measure import Command, Turns
from bench.rows import Prepared
from bench.rows.changes import judge_diff
from bench.rows.states import bring, forget
from bench.session import Session, measure

ROOT = Path(__file__).parents[2]
FLEET = draw(FLEETS["small"])
AFTER = changed(FLEET)
CONCERNED = members(FLEET)


@pytest.fixture
def ready(tmp_path: Path) -> Prepared:
    (tmp_path / "gitcfg/.git").mkdir(parents=True)
    return Prepared("small", FLEET, AFTER, "mark", tmp_path, ROOT, sys.executable)


def writing(ready: Prepared, text: str, code: int = 0) -> Command:
    """A command that adds a line to the cache, and to what tells how often it ran."""
    cache = ready.repository / ".git/gitcfg"
    said = (
        f"from pathlib import Path; cache = Path({str(cache)!r}); cache.mkdir(exist_ok=True, mode=0o700)\n"
        f"for path in (cache / 'lines', Path({str(ready.folder / 'ran')!r})):\n"
        f"    path.open('a').write({text!r})\n"
        f"raise SystemExit({code})"
    )
    return ready.command(sys.executable, "-c", said)


def lines(ready: Prepared) -> str:
    return (ready.repository / ".git/gitcfg/lines").read_text()


def test_state_is_made_once_and_put_back(ready: Prepared) -> None:
    before = [writing(ready, "a"), writing(ready, "b")]
    bring(ready, before)
    assert lines(ready) == "ab"
    (ready.repository / ".git/gitcfg/lines").write_text("other")
    bring(ready, before)
    assert lines(ready) == "ab"
    assert (ready.folder / "ran").read_text() == "ab"
    assert (ready.repository / ".git/gitcfg").stat().st_mode & 0o777 == 0o700


def test_cold_is_without_cache(ready: Prepared) -> None:
    bring(ready, [writing(ready, "a")])
    bring(ready, [])
    assert not (ready.repository / ".git/gitcfg").exists()


def test_state_that_cannot_be_made_is_tried_once(ready: Prepared) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="the state is not made"):
            bring(ready, [writing(ready, "a", code=70)])
    assert (ready.folder / "ran").read_text() == "a"


def test_forgotten_states_are_made_anew(ready: Prepared) -> None:
    bring(ready, [writing(ready, "a")])
    forget(ready)
    bring(ready, [writing(ready, "a")])
    assert (ready.folder / "ran").read_text() == "aa"


def diff(names: list[str]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for name in names:
        old, new = params(FLEET, FLEET.nodes[name]), params(AFTER, AFTER.nodes[name])
        said = {one: {"old": old[one], "new": new[one]} for one in old if old[one] != new[one]}
        found.append({"nodes": [name], "params": said})
    return found


def test_right_diff_is_right(tmp_path: Path) -> None:
    (tmp_path / "diff").write_text(json.dumps({"changes": diff(list(CONCERNED))}))
    found = judge_diff(FLEET, AFTER, CONCERNED)(tmp_path / "diff")
    assert found == f"100/100, {len(CONCERNED)} change"


@pytest.mark.parametrize("wrong", ["one missing", "one too many", "other value"])
def test_wrong_diff_is_found(tmp_path: Path, wrong: str) -> None:
    changes = diff(list(CONCERNED))
    if wrong == "one missing":
        del changes[3]
    elif wrong == "one too many":
        stranger = next(name for name in FLEET.nodes if name not in CONCERNED)
        changes.append({"nodes": [stranger], "params": {"X": {"old": 1, "new": 2}}})
    else:
        changes[3]["params"] = {"X": {"old": 1, "new": 2}}
    (tmp_path / "diff").write_text(json.dumps({"changes": changes}))
    with pytest.raises(ValueError, match="nodes differ"):
        judge_diff(FLEET, AFTER, CONCERNED)(tmp_path / "diff")


def test_yardstick_is_always_asked() -> None:
    given = options(["--fleets", "small,huge", "--only", "gitcfg"])
    assert asked(given) == {"small": ["yardstick", "gitcfg"], "huge": ["gitcfg"]}


@pytest.mark.parametrize("wrong", [["--only", "nornia"], ["--fleets", "huger"]])
def test_unknown_names_are_told(wrong: list[str]) -> None:
    with pytest.raises(SystemExit, match="There is no "):
        asked(options(wrong))


@pytest.mark.slow
def test_gitcfg_rows_are_right_in_every_state(tmp_path: Path) -> None:
    asked = {"one": ["gitcfg", "floor"]}
    (records,) = measure(Session(asked, Turns(runs=1), tmp_path, ROOT))
    assert [msgspec.structs.asdict(one) for one in records if one.note or not one.cpu] == []
    rights = {(one.work, one.state): one.right for one in records}
    assert rights["all nodes", "cold"] == rights["all nodes", "warm"] == "1/1 of 1"
    assert rights["check", "nothing changed"] == rights["check", "one group changed"] == "same findings"
    assert rights["diff", "warm"] == "1/1, 1 change"
    assert rights["all nodes, files", "one group changed"] == "1 files written"
