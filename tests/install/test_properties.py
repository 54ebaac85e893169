"""Whatever stands and whatever is meant: afterwards the package and what others wrote, or all as before."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.install.drift import find_drift, recover
from gitcfg.install.package import Subsystem
from tests.install.conftest import MEMORY
from tests.install.world import KILLED, World, killed_at, made_file, package, secret_file, standing

PATHS = st.sampled_from(["/etc/a", "/etc/b", "/etc/d/a", "/etc/d/e/f", "/etc/d/e/g", "/srv/x"])
CONTENTS = st.sampled_from(["", "1", "2", "\0"])
MODES = st.sampled_from(["0644", "0600", "0755"])
FILES = st.dictionaries(PATHS, st.tuples(CONTENTS, MODES, st.booleans()), max_size=6)
BY_HAND = st.dictionaries(
    st.one_of(PATHS, st.sampled_from(["/etc/theirs", "/etc/d/theirs", "/srv/y/z"])),
    st.sampled_from(["content", "remove", "chmod", "link"]),
    max_size=4,
)
Files = dict[str, tuple[str, str, bool]]
"""Contents and modes; and whether a file holds a secret."""


def meant(files: Files) -> dict[str, object]:
    return {
        path: (secret_file if secret else made_file)(path, content, mode=mode)
        for path, (content, mode, secret) in files.items()
    }


def by_hand(world: World, changes: dict[str, str]) -> None:
    for path, change in changes.items():
        target = world.root / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        if change == "chmod" and target.is_file():
            target.chmod(0o640)
            continue
        target.unlink(missing_ok=True)
        if change == "content":
            target.write_text("by hand")
        elif change == "link":
            target.symlink_to("/etc/passwd")


def files_of(world: World) -> dict[str, tuple[object, ...]]:
    return {path: what for path, what in standing(world.root).items() if what[0] != "folder"}


def node() -> World:
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    made = World(folder / "root", folder / "daemons")
    made.root.mkdir()
    made.daemons.mkdir()
    return made


@given(FILES, FILES, BY_HAND, st.integers(0, 120))
def test_any_package_over_any_other(old: Files, new: Files, changes: dict[str, str], number: int) -> None:
    world = node()
    try:
        assert world.install(package(meant(old))).result in ("ok", "unchanged")
        by_hand(world, changes)
        before = standing(world.root)
        no = Subsystem("no", reload=("/bin/false",))
        bad = package(meant(new), no, commit="b")
        assert world.install(bad, reload=("no",)).result == "reverted"
        assert standing(world.root) == before
        good = package(meant(new), commit="c")
        expected = {path: what for path, what in files_of(world).items() if path not in {*old, *new}}
        expected |= {
            path: ("file", int(mode, 8), 0, 0, text.encode()) for path, (text, mode, _) in new.items()
        }
        code = killed_at(number, "after", lambda disk: world.install(good, disk=disk))
        outcome = recover(world.place())
        assert code in (0, KILLED)
        assert files_of(world) in (
            expected,
            {path: what for path, what in before.items() if what[0] != "folder"},
        )
        assert outcome is None or outcome.result in ("ok", "reverted")
        assert world.install(good).result in ("ok", "unchanged")
        assert files_of(world) == expected
        assert find_drift(world.place()) == ()
        assert world.install(package({}, commit="d")).result in ("ok", "unchanged")
        assert files_of(world) == {path: what for path, what in expected.items() if path not in new}
    finally:
        shutil.rmtree(world.root.parent)
