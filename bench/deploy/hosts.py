"""Hosts for the benchmark: addresses of loopback, a folder each, sshds in front, and who may come in."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.system.sshd import PROGRAM, Sshd, sshd, user
from tests.system.sshd_node import enter

FILE = "/etc/pool/pool.config"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
_A_PART = 250


class Hosts(msgspec.Struct, frozen=True):
    """`places` are the folders by address, each a host's own; `home` is that of who comes in."""

    folder: Path
    home: Path
    listening: Sshd
    places: dict[str, Path]

    @property
    def settings(self) -> Path:
        """ssh_config."""
        return self.home / ".ssh/config"

    @property
    def known(self) -> Path:
        """known_hosts."""
        return self.home / ".ssh/known_hosts"

    def target(self, address: str) -> Path:
        """The file that is brought there."""
        return self.places[address] / "root" / FILE.lstrip("/")

    def right(self, text: str) -> int:
        """How many hosts have the file as it is to be."""
        files = (self.target(address) for address in self.places)
        return sum(file.exists() and file.read_text() == text for file in files)


def addresses(count: int) -> tuple[str, ...]:
    """So many, from 127.0.0.2 on."""
    return tuple(f"127.0.{number // _A_PART}.{number % _A_PART + 2}" for number in range(count))


@contextmanager
def hosts(count: int) -> Iterator[Hosts]:
    """So many hosts, while they are needed. RuntimeError: there is no sshd."""
    if PROGRAM is None:
        raise RuntimeError("There is no sshd.")
    folder = Path(tempfile.mkdtemp(prefix="gitcfg-deploy-"))
    try:
        wanted = addresses(count)
        places = {address: _place(folder, address) for address in wanted}
        with sshd(folder, wanted, enter(folder)) as listening:
            made = Hosts(folder, folder / "home", listening, places)
            _let_in(made)
            yield made
    finally:
        shutil.rmtree(folder)


def _place(folder: Path, address: str) -> Path:
    place = folder / "at" / address
    (place / "root/etc/pool").mkdir(parents=True)
    (place / "bin").mkdir()
    (place / "path").write_text(_PATH)
    return place


def _let_in(made: Hosts) -> None:
    (made.home / ".ssh").mkdir(parents=True, mode=0o700)
    lines = [made.listening.known(address) for address in made.places]
    made.known.write_text("".join(lines))
    said = {
        "Port": made.listening.port,
        "User": user(),
        "IdentityFile": made.listening.keys.user,
        "IdentitiesOnly": "yes",
        "UserKnownHostsFile": made.known,
    }
    made.settings.write_text("Host *\n" + "".join(f"  {key} {value}\n" for key, value in said.items()))
