"""After any sequence of runs and edits a folder is as a fresh one, whatever the number of workers."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.output import folder as plan
from tests.output.sources import Told, age, fresh, held, run

NODES = ["n1", "n2", "n10", "a.example.org", "b"]
PATHS = ["/a", "/etc/a", "/etc/a/b", "/etc/b 0600", "/etc/b", "/etc/c.d/x", "/etc/c.d/y 0755", "/z/y/x"]
TEXTS = ["", "1\n", "2\n", "three\n"]


def apart(files: Mapping[str, str]) -> dict[str, str]:
    """Those of which none is another's folder, nor is one there twice: others are findings."""
    found: dict[str, str] = {}
    for place, text in files.items():
        path = place.partition(" ")[0]
        others = [other.partition(" ")[0] for other in found]
        if not any(path == o or path.startswith(o + "/") or o.startswith(path + "/") for o in others):
            found[place] = text
    return found


FILES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(TEXTS), max_size=4).map(apart)
FLEETS = st.dictionaries(st.sampled_from(NODES), FILES, max_size=4)
HANDS = st.tuples(st.sampled_from(["edit", "same size", "remove", "chmod", "touch"]), st.integers(0, 9))
STEPS = st.one_of(
    st.tuples(st.just("run"), FLEETS, st.booleans()),
    st.tuples(st.just("some"), FLEETS, st.lists(st.sampled_from(NODES), unique=True)),
    st.tuples(st.just("hand"), HANDS),
    st.tuples(st.just("age")),
)


def fingerprint(said: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {node: repr(sorted(files.items())) for node, files in said.items()}


def by_hand(top: Path, what: str, which: int) -> None:
    """Do something to a file of gitcfg's. Its directory entries are in order."""
    files = sorted(p for p in top.rglob("*") if p.is_file() and ".gitcfg" not in p.parts)
    if not files:
        return
    file = files[which % len(files)]
    text = file.read_text()
    if what == "edit":
        file.write_text(text + "mine\n")
    elif what == "same size":
        file.write_text("x" * len(text))
    elif what == "remove":
        file.unlink()
    elif what == "chmod":
        file.chmod(0o640)
    else:
        os.utime(file, ns=(5, 5))


@given(steps=st.lists(STEPS, max_size=8), last=FLEETS)
@settings(max_examples=150)
def test_a_folder_is_as_a_fresh_one_but_for_what_people_changed(
    steps: list[Any], last: dict[str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("law")
    top = home / "out"
    top.mkdir()
    mine: dict[str, str] = {}
    for kind, *rest in steps:
        if kind == "run":
            run(top, Told(rest[0], fingerprint(rest[0]) if rest[1] else {}))
        elif kind == "some":
            run(top, Told(rest[0], fingerprint(rest[0])), nodes=sorted(set(rest[1]) & rest[0].keys()))
        elif kind == "hand":
            before = held(top)
            by_hand(top, *rest[0])
            mine |= {name: text for name, text in held(top).items() if before.get(name) != text}
        elif (top / ".gitcfg/manifest").exists():
            age(top)
    done = run(top, Told(last, fingerprint(last))).changes
    found, expected = held(top), fresh(home / "fresh", last)
    assert {name: found.get(name) for name in expected} == expected or done.blocked
    edited = {f"{node}{path}" for node, path in done.edited}
    extra = {name for name in found.keys() - expected.keys() if not name.endswith("/")}
    assert extra == edited
    assert extra <= mine.keys()
    shutil.rmtree(home)


@given(before=FLEETS, after=FLEETS, chunk=st.integers(1, 3))
@settings(max_examples=25)
def test_one_worker_two_workers_and_node_by_node_are_the_same(
    before: dict[str, Any], after: dict[str, Any], chunk: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("workers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "CHUNK", chunk)
        outcomes, folders = [], []
        for workers in (1, 2, 3):
            top = home / str(workers)
            run(top, before, workers=workers)
            outcomes.append(run(top, after, workers=workers))
            folders.append(held(top))
            records = (top / ".gitcfg/manifest").read_text().splitlines()[:-1]
            assert records[1:] == sorted(records[1:], key=lambda text: text.split('"')[1])
    top = home / "single"
    run(top, before)
    for node in after:
        run(top, after, nodes=[node])
    run(top, after)
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert folders[0] == folders[1] == folders[2] == held(top) == fresh(home / "fresh", after)
    shutil.rmtree(home)
