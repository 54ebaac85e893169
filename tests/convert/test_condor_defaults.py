"""All that HTCondor knows as declarations, and the command line of `import condor`."""

from pathlib import Path

import pytest

from gitcfg.bundled import read_pack
from gitcfg.cli.main import run
from gitcfg.convert.condor.htcondor import HTCondor, KnownName
from gitcfg.convert.condor.parameters import declare, default_files
from gitcfg.convert.condor.repository import import_condor
from gitcfg.convert.condor.sources import Source
from gitcfg.convert.wallaby.repository import import_wallaby
from gitcfg.edit.transaction import create_repository
from gitcfg.library import in_memory
from gitcfg.model import Severity
from tests.convert.condor_cases import SETTINGS
from tests.parsers.oracle import needs_htcondor

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (KnownName("A", None, "string", ""), {}),
        (KnownName("A", "", "string", "It is."), {"description": "It is.", "default": ""}),
        (KnownName("A", "10", "integer", ""), {"type": "integer", "default": 10}),
        (KnownName("A", "60 * $(B)", "integer", ""), {"type": "integer", "default": "60 * $(B)"}),
        (KnownName("A", "True", "boolean", ""), {"type": "boolean", "default": True}),
        (KnownName("A", "$(LOG)/a", "path", ""), {"type": "path", "default": "$(LOG)/a"}),
        (KnownName("A", "x &&\n  y", "string", ""), {"type": "expression", "default": "x && y"}),
    ],
)
def test_a_declaration(known: KnownName, wanted: dict[str, object]) -> None:
    assert declare(known) == wanted


@needs_htcondor
def test_all_names_are_declared_without_an_error() -> None:
    with HTCondor() as condor:
        known = condor.begin().defaults.values()
    files = default_files(known, lambda name: False, ())
    with in_memory({**read_pack("empty"), **files}) as fleet:
        assert [found for found in fleet.findings if found.severity is Severity.ERROR] == []
        assert set(fleet.model.parameters) == {one.name for one in known}
        assert fleet.model.parameters["COLLECTOR_PORT"].type == "integer"
    assert len(files) > 20


@needs_htcondor
def test_what_is_declared_stays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own = "parameters:\n  start: {type: expression}\n  SCHEDD_*: {type: string}\n"
    files = {"gitcfg.yaml": "format: 1\n", "parameters/htcondor/s.yaml": own}
    create_repository(tmp_path / "pool", files, "Begin")
    assert run(["import", "condor", "--defaults", str(tmp_path / "pool")]) == 0
    assert "declared in 24 new files" in capfd.readouterr().err
    folder = tmp_path / "pool/parameters/htcondor"
    assert (folder / "s.yaml").read_text() == own
    added = (folder / "s2.yaml").read_text()
    assert "\n  STARTD_" in added
    assert "\n  START:" not in added
    assert "\n  SCHEDD_" not in added
    assert run(["import", "condor", "--defaults", str(tmp_path / "pool")]) == 0
    assert "0 parameters" in capfd.readouterr().err
    assert not (folder / "s3.yaml").exists()


def test_hosts_become_a_repository(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pool, first = str(tmp_path / "pool"), tmp_path / "condor_config"
    first.write_text("A = 1\n")
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"B = {name}\n")
    words = [f"--host={name}={tmp_path / name}" for name in ("a", "b")]
    assert run(["import", "condor", *words, str(first), pool]) == 0
    told = capfd.readouterr().err
    assert "Found 1 feature for 2 hosts:\n  Common (a,b), 1 setting: A\n  a alone, 1 setting: B\n" in told
    assert run(["-C", pool, "render", "b"]) == 0
    assert "A = 1\nB = b\n" in capfd.readouterr().out
    assert run(["import", "condor", *words, str(first), pool]) == 4


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["{}"],
        ["--host=a", "{}"],
        ["--host=a b=/dev/null", "{}"],
        ["--hosts={}/none", "{}"],
        ["{}/none", "{}"],
    ],
)
def test_what_cannot_be_imported_is_refused(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["import", "condor", *(word.format(tmp_path / "pool") for word in words)]) == 2
    assert capfd.readouterr().err.startswith("error: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not DATA.exists(), reason="the real pools are not here")
@needs_htcondor
@pytest.mark.parametrize("pool", ["pool-small.yaml", "pool-daemons.yaml"])
def test_a_real_pools_files_come_back(pool: str) -> None:
    """What a real pool's nodes get, imported as if it had been found on them."""
    with in_memory(import_wallaby((DATA / pool).read_bytes()).files) as fleet:
        hosts = {name: (Source("local", fleet[name].files[SETTINGS]),) for name in fleet}
    with HTCondor() as condor:
        found = import_condor(hosts, condor.begin())
    assert found.alike == found.hosts == len(hosts), found.notes[:5]
    assert len(found.found) > 2
