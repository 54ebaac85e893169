"""A real sshd on loopback, for whoever runs the tests."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
_SECONDS = 20


def _key(place: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place)], check=True)
    return place


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, str]]:
    """The URL of this machine by SSH, and the command that reaches it with the one key that may."""
    assert PROGRAM is not None
    host, user, port = _key(folder / "host"), _key(folder / "user"), _free_port()
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    said = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": host,
        "AuthorizedKeysFile": user.with_suffix(".pub"),
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "AcceptEnv": "GIT_PROTOCOL",
    }
    config = folder / "sshd_config"
    config.write_text("".join(f"{key} {value}\n" for key, value in said.items()))
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host.with_suffix('.pub').read_text()}")
    command = f"ssh -F none -i {user} -o IdentitiesOnly=yes -o BatchMode=yes"
    command += f" -o UserKnownHostsFile={folder / 'known_hosts'}"
    process = subprocess.Popen([PROGRAM, "-D", "-e", "-f", str(config)], stderr=subprocess.DEVNULL)
    try:
        _wait(port, process)
        yield f"ssh://{getpass.getuser()}@127.0.0.1:{port}", command
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as tried:
            if not tried.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    raise AssertionError("sshd does not listen")
