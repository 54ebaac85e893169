"""Data that comes with the program: found in a checkout and in an installed package."""

import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

from gitcfg import bundled
from gitcfg.cli.app import build
from gitcfg.cli.commands import COMMANDS
from gitcfg.cli.records import ITEMS
from tests.cli.published import validators

ROOT = Path(__file__).parents[1]
KINDS = [
    *(
        "allocation",
        "feature",
        "gitcfg",
        "group",
        "hold",
        "node",
        "nodeset",
        "override",
        "parameters",
        "rules",
        "secret",
        "subsystems",
    ),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_found(kind: str) -> None:
    assert msgspec.json.decode(bundled.read_schema(kind))["$id"] == f"urn:gitcfg:schema:1:{kind}"


def test_there_is_a_schema_of_every_kind_and_no_other() -> None:
    files = (entry.name for entry in bundled.folder("schema").iterdir() if entry.is_file())
    assert sorted(files) == [f"{kind}.json" for kind in KINDS]


def test_there_is_a_schema_of_every_record() -> None:
    """Of each document that commands write, and of each line."""
    build(COMMANDS)  # each declares its records
    names = {f"gitcfg.{items.item}/1" for items in ITEMS.values()}
    assert validators().keys() == ITEMS.keys() | names


def test_the_sample_is_found() -> None:
    assert (bundled.folder("sample-repo") / "gitcfg.yaml").is_file()


def test_in_a_package_its_own_data_comes_first(tmp_path: Path) -> None:
    """A package laid out as the wheel has it, in a folder and in an archive."""
    source = (ROOT / "gitcfg/bundled.py").read_text()
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("gitcfg/__init__.py", "")
        packed.writestr("gitcfg/bundled.py", source)
        packed.writestr("gitcfg/_data/schema/node.json", "{}")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "unpacked")
    (tmp_path / "unpacked/schema").mkdir()
    (tmp_path / "unpacked/schema/node.json").write_text("the wrong one")
    program = "import sys; sys.path.insert(0, sys.argv[1])\n"
    program += "from gitcfg.bundled import read_schema\nprint(read_schema('node'))"
    for place in (archive, tmp_path / "unpacked"):
        done = subprocess.run(
            [sys.executable, "-I", "-c", program, str(place)], capture_output=True, check=True, text=True
        )
        assert done.stdout == "b'{}'\n"
