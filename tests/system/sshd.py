"""Real sshds on addresses of loopback, and one key that may come in."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.ports import free_port

PROGRAM = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
_SFTP = "/usr/lib/openssh/sftp-server"
_MOST = 16  # sockets that one sshd can listen on (MAX_LISTEN_SOCKS); who needs more addresses starts more
_SECONDS = 20
_TRIES = 5
# A shell that is run by SSH reads ~/.bashrc, which may take half a second: HOME is elsewhere. There is
# one way to agree on keys: OpenSSH's favourite (sntrup761) takes 65 ms of CPU more at each end.
_CONFIG = """Port {port}
{listen}
HostKey {host}
AuthorizedKeysFile {user}.pub
ForceCommand {enter}
SetEnv HOME={folder}
PidFile none
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
MaxStartups 1000
MaxSessions 1000
Subsystem sftp {sftp}
KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org
AllowTcpForwarding yes
"""


class Keys(NamedTuple):
    """Private keys; each has its public half beside it. `wrong` is a host's that nobody knows."""

    host: Path
    wrong: Path
    user: Path

    @classmethod
    def made(cls, folder: Path) -> "Keys":
        """New ones."""
        found = cls(*(folder / name for name in cls._fields))
        for place in found:
            line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", place.name, "-f", str(place)]
            subprocess.run(line, check=True)
        return found


class Sshd(NamedTuple):
    """What listens: `processes` are the sshds themselves, `addresses` what can be reached at the port."""

    keys: Keys
    port: int
    addresses: tuple[str, ...]
    processes: tuple["subprocess.Popen[bytes]", ...]

    def known(self, address: str, *, wrong: bool = False) -> str:
        """The line of known_hosts for an address."""
        key = (self.keys.wrong if wrong else self.keys.host).with_suffix(".pub").read_text()
        return f"[{address}]:{self.port} {' '.join(key.split()[:2])}\n"


@contextmanager
def sshd(folder: Path, addresses: Sequence[str], enter: Path, within: Sequence[str] = ()) -> Iterator[Sshd]:
    """Sshds while they are needed; `enter` is run for whoever comes in. At the end nobody is left of them.

    `within` are words that run them elsewhere than on this very machine.
    """
    if PROGRAM is None:
        pytest.skip("there is no sshd")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    keys = Keys.made(folder)
    # The first address of all makes the port this test's own among those that run at the same time.
    wanted = tuple(dict.fromkeys(("127.0.0.1", *addresses)))
    for _ in range(_TRIES):
        port = free_port()
        processes = tuple(_started(folder, keys, port, enter, part, within) for part in _parts(wanted))
        try:
            if all(_listens(one, part, port) for one, part in zip(processes, _parts(wanted), strict=True)):
                yield Sshd(keys, port, wanted, processes)
                return
        finally:
            end(folder, *(one.pid for one in processes))
            for one in processes:
                one.wait()
    raise AssertionError((folder / "sshd.log").read_text()[-2000:])


def _parts(addresses: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(addresses), _MOST):
        yield addresses[first : first + _MOST]


def _started(
    folder: Path, keys: Keys, port: int, enter: Path, addresses: Sequence[str], within: Sequence[str]
) -> "subprocess.Popen[bytes]":
    assert PROGRAM is not None
    listen = "\n".join(f"ListenAddress {address}" for address in addresses)
    config = folder / f"sshd_config_{addresses[0]}"
    said = {"port": port, "listen": listen, "host": keys.host, "user": keys.user, "folder": folder}
    config.write_text(_CONFIG.format(**said, enter=enter, sftp=_SFTP))
    with (folder / "sshd.log").open("ab") as log:
        return subprocess.Popen([*within, PROGRAM, "-D", "-e", "-f", str(config)], stderr=log)


def _listens(process: "subprocess.Popen[bytes]", addresses: Sequence[str], port: int) -> bool:
    """Wait until it does; False: it cannot, since somebody else has the port."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as tried:
            if not tried.connect_ex((addresses[-1], port)):
                return process.poll() is None
        time.sleep(0.01)
    return False


def end(folder: Path, *first: int) -> None:
    """Kill processes, those below them, and whoever has this folder in its command or its environment."""
    for _ in range(100):
        found = _below(first) | working(str(folder).encode())
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    raise AssertionError(f"processes {sorted(working(str(folder).encode()))} cannot be ended")


def _below(first: Sequence[int]) -> set[int]:
    """Those of the processes that still run, and all that they have started."""
    above: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            above |= {int(stat.parent.name): int(parent)} if state != "Z" else {}
    found = set(first) & above.keys()
    while more := {pid for pid, parent in above.items() if parent in found} - found:
        found |= more
    return found


def working(*words: bytes) -> set[int]:
    """Who has all these words in its command or environment; not this process, and not who has started it."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            said = (place / "cmdline").read_bytes() + b"\0" + (place / "environ").read_bytes()
            if all(word in said for word in words) and int(place.name) not in (os.getpid(), os.getppid()):
                found.add(int(place.name))
    return found


def user() -> str:
    """Who logs in."""
    return getpass.getuser()
