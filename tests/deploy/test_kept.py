"""The program on the node: kept once per version, believed only with its sum, and root's alone."""

import errno
import hashlib
import os
import stat
import sys
from pathlib import Path

import pytest

from gitcfg.deploy.program import program
from gitcfg.install.disk import Disk
from gitcfg.install.remote.bootstrap import load_codes, seal
from gitcfg.install.remote.session import keep_program
from gitcfg.install.store import Place, open_store
from tests.deploy.process import PYTHONS, deploy
from tests.install.world import STATE, World, package

NEW = package({"/etc/app/app.conf": "one\n"})
OWN = os.path.dirname(sys.executable)
CARRIED = 30_000
"""Bytes that are only sent with the program."""


@pytest.fixture
def far(world: World) -> Path:
    """The folder where it was kept, by the Python that runs these tests."""
    assert deploy(world, NEW, OWN).sent > CARRIED
    return world.state("far")


def test_it_is_roots_alone(far: Path, world: World) -> None:
    key = program().key
    assert sorted(one.name for one in far.iterdir()) == [key, f"{key}.code"]
    assert stat.S_IMODE(far.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in far.iterdir()} == {0o600}
    assert hashlib.sha256((far / key).read_bytes()).hexdigest() == key
    assert deploy(world, NEW, OWN).sent < 1000


def test_other_versions_go(far: Path, world: World) -> None:
    (far / "0123").write_text("old")
    (far / "folder").mkdir()
    (far / program().key).unlink()
    assert deploy(world, NEW, OWN).sent > CARRIED
    assert len(list(far.iterdir())) == 2


def test_a_damaged_program_is_carried_anew(far: Path, world: World) -> None:
    kept = far / program().key
    raw = kept.read_bytes()
    for bad in (b"", raw[:-1], raw + b"x", raw[:50] + b"X" + raw[51:], b"import os; os._exit(0)\0{}"):
        kept.write_bytes(bad)
        assert deploy(world, NEW, OWN).sent > CARRIED
        assert kept.read_bytes() == raw
    assert deploy(world, NEW, OWN).sent < 1000


def test_damaged_compiled_code_is_not_run(far: Path, world: World) -> None:
    code = far / f"{program().key}.code"
    raw = code.read_bytes()
    for bad in (b"", raw[:-1], raw[:40] + b"X" + raw[41:], os.urandom(5000)):
        code.write_bytes(bad)
        done = deploy(world, NEW, OWN)
        assert (done.outcome.result, done.sent < 1000) == ("unchanged", True)
        assert code.read_bytes() == raw


@pytest.mark.parametrize("name", ["", ".code"])
def test_links_are_not_followed(far: Path, world: World, name: str, tmp_path: Path) -> None:
    kept = far / f"{program().key}{name}"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(kept.read_bytes())
    kept.unlink()
    kept.symlink_to(elsewhere)
    assert (deploy(world, NEW, OWN).sent > CARRIED) == (name == "")
    assert not kept.is_symlink()
    assert elsewhere.is_file()


def test_a_folder_that_is_a_link_makes_room(far: Path, world: World) -> None:
    elsewhere = far.rename(world.daemons / "far")
    far.symlink_to(elsewhere)
    before = sorted(elsewhere.iterdir())
    assert deploy(world, NEW, OWN).outcome.result == "unchanged"
    assert not far.is_symlink()
    assert sorted(elsewhere.iterdir()) == before


def test_a_folder_that_others_may_read_is_not_believed(far: Path, world: World) -> None:
    key = program().key
    assert load_codes(str(world.root), STATE, key)
    for one in (far, far / f"{key}.code"):
        mode = stat.S_IMODE(one.stat().st_mode)
        one.chmod(mode | 0o020)
        assert load_codes(str(world.root), STATE, key) == {}
        one.chmod(mode)
    far.chmod(0o777)
    assert deploy(world, NEW, OWN).outcome.result == "unchanged"
    assert stat.S_IMODE(far.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_code_of_somebody_else_is_not_believed(far: Path, world: World) -> None:
    key = program().key
    os.chown(far / f"{key}.code", 65534, 65534)
    assert load_codes(str(world.root), STATE, key) == {}


def test_pipes_in_their_places_hold_nobody_up(far: Path, world: World) -> None:
    for name in ("", ".code"):
        (far / f"{program().key}{name}").unlink()
        os.mkfifo(far / f"{program().key}{name}")
    assert deploy(world, NEW, OWN).outcome.result == "unchanged"
    assert deploy(world, NEW, OWN).sent < 1000


@pytest.mark.skipif(len(PYTHONS) < 2, reason="there is one Python here")
def test_another_python_compiles_its_own(far: Path, world: World) -> None:
    """The node was upgraded: what is kept compiled is of another version."""
    codes = set()
    for folder in (*PYTHONS, *PYTHONS):
        assert deploy(world, NEW, folder).outcome.result == "unchanged"
        codes.add((far / f"{program().key}.code").read_bytes())
    assert len(codes) == len(PYTHONS)


def test_code_without_its_sum_is_none(world: World) -> None:
    """`sealed` has to do with the Python that runs, so that marshal never reads another's."""
    assert seal(b"x") != seal(b"y")
    assert seal(b"x")[32:] == b"x"


class Full(Disk):
    """Has no room from some byte on."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, file: int, content: bytes) -> None:
        self.room -= len(content)
        if self.room < 0:
            super().write(file, content[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(file, content)


@pytest.mark.parametrize(("room", "left"), [(0, []), (5, ["k"]), (500, ["k", "k.code"])])
def test_half_a_program_never_stands_there(world: World, room: int, left: list[str]) -> None:
    place = Place(str(world.root), STATE, disk=Full(room))
    with open_store(place) as store:
        keep_program(store, b"1234", "k", lambda: b"5678")
    assert sorted(one.name for one in world.state("far").iterdir()) == left
