"""A machine with one more user, who is not root: its sshds and its sudo see an /etc of the test's own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

NAME, NUMBER = "walker", 54321
PASSWORD = "canary-4712"
_FILES = ("passwd", "shadow", "group")
_SUDOERS = ("Defaults env_reset", "Defaults use_pty", "root ALL=(ALL:ALL) ALL")
_WITHIN = 'for each in {}; do mount --bind "$0/$each" "/etc/$each" || exit 70; done; exec "$@"'


class Users(NamedTuple):
    """`folder` is where everybody may go; `within` are words that run something on this machine."""

    folder: Path
    within: tuple[str, ...]

    def sudo(self, rule: str) -> None:
        """What sudo lets the user do from now on, as sudoers says it; nothing: not even ask."""
        lines = (*_SUDOERS, *([f"{NAME} {rule}"] if rule else ()))
        (self.folder / "etc" / "sudoers").write_text("".join(f"{line}\n" for line in lines))

    def owns(self, *places: Path) -> None:
        """Give the user these folders, with all that is in them."""
        subprocess.run(["chown", "-R", f"{NUMBER}:{NUMBER}", *map(str, places)], check=True)


@contextmanager
def users() -> Iterator[Users]:
    """As long as it is needed; skips where nobody can be let in who is not known to the system."""
    if os.geteuid() or not all(map(shutil.which, ("unshare", "mount", "openssl"))):
        pytest.skip("only root can let somebody else log in")
    # Not in pytest's own folder, which only root may enter.
    folder = Path(tempfile.mkdtemp(prefix="gitcfg-users-"))
    try:
        folder.chmod(0o755)
        made = _made(folder)
        if subprocess.run([*made.within, "id", NAME], capture_output=True, check=False).returncode:
            pytest.skip("nothing can be mounted for some processes alone here")
        yield made
    finally:
        shutil.rmtree(folder)


def _made(folder: Path) -> Users:
    """Copies of what stands in /etc, with one more user; they are mounted over it for `within` alone."""
    etc = folder / "etc"
    etc.mkdir()
    line = ["openssl", "passwd", "-6", "-stdin"]
    hashed = subprocess.run(line, input=PASSWORD, capture_output=True, text=True, check=True).stdout.strip()
    more = (
        f"{NAME}:x:{NUMBER}:{NUMBER}::{folder}:/bin/sh",
        f"{NAME}:{hashed}:19000:0:99999:7:::",
        f"{NAME}:x:{NUMBER}:",
    )
    for name, line_ in zip(_FILES, more, strict=True):
        shutil.copy(Path("/etc", name), etc / name)
        with (etc / name).open("a") as file:
            file.write(f"{line_}\n")
    (etc / "sudoers").touch(0o440)
    found = [name for name in (*_FILES, "sudoers") if Path("/etc", name).is_file()]
    made = Users(folder, ("unshare", "-m", "/bin/sh", "-c", _WITHIN.format(" ".join(found)), str(etc)))
    made.sudo("")
    return made
