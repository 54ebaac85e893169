"""Real pools: HTCondor's own parser reads what was meant in every file of theirs."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

import gitcfg
from gitcfg.bundled import folder
from gitcfg.convert.wallaby.repository import import_wallaby
from tests.parsers.oracle import needs_htcondor

pytestmark = needs_htcondor
DATA = Path(__file__).parents[3] / "shared" / "data"
TODAY = date(2026, 1, 1)


def dump(stem: str) -> Mapping[str, str]:
    path = DATA / f"{stem}.yaml"
    if not path.exists():
        pytest.skip("the dumps are not here")
    return import_wallaby(path.read_bytes()).files


@pytest.mark.parametrize(("stem", "texts"), [("pool-small", 15), ("pool-daemons", 13), ("condor-base-db", 1)])
def test_dumps(stem: str, texts: int) -> None:
    with gitcfg.in_memory(dump(stem), TODAY) as fleet:
        assert [finding for finding in fleet.all_findings if finding.code == "GC307"] == []
        assert not fleet.parsers.lacks("condor")
        assert fleet.parsers.question_count == texts


def test_all_features_of_the_semantic_database() -> None:
    """It comes without nodes: each feature is put on a node of its own."""
    files = dict(dump("condor-base-db"))
    names = [path.split("/")[1].removesuffix(".yaml") for path in files if path.startswith("features/")]
    files |= {f"nodes/n{number}.yaml": f"features: ['{name}']\n" for number, name in enumerate(names)}
    with gitcfg.in_memory(files, TODAY) as fleet:
        found = [finding for finding in fleet.all_findings if finding.code == "GC307"]
        assert found == []
        assert fleet.parsers.question_count > 40


def test_the_sample() -> None:
    root = Path(str(folder("sample-repo"))).resolve()
    paths = [path for path in root.rglob("*") if path.is_file()]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    with gitcfg.in_memory(files, TODAY) as fleet:
        assert fleet.all_findings == fleet.findings == ()
        assert fleet.parsers.question_count > 15
