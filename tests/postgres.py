"""A PostgreSQL server of the tests' own: a folder, an ordinary user, an address on loopback."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port

USER = "nobody"
_PLACES = (*os.environ.get("PATH", "").split(":"), *map(str, Path("/usr/lib/postgresql").glob("*/bin")))


def program(name: str) -> str | None:
    """Where one of PostgreSQL's programs is; None: nowhere."""
    return shutil.which(name, path=":".join(_PLACES))


def missing() -> str:
    """Why no server can be started here; nothing: it can."""
    return "" if program("initdb") and program("pg_ctl") else "PostgreSQL is not installed"


class Server:
    """A running server. `url(name)` is a database of that name, which is made empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()

    def call(self, name: str, *words: str) -> None:
        """One of PostgreSQL's programs, as an ordinary user: it refuses to run as root."""
        path = program(name)
        assert path is not None
        drop = (
            ["setpriv", f"--reuid={USER}", f"--regid={_group()}", "--clear-groups"]
            if os.getuid() == 0
            else []
        )
        call = [*drop, path, *words]
        done = subprocess.run(call, capture_output=True, text=True, cwd=self.folder, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Begin to answer; what was committed before is there."""
        said = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' -c fsync=off"
        log = str(self.folder / "log")
        self.call("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-w", "-o", said, "start")

    def stop(self) -> None:
        """End at once, as a machine without power does."""
        self.call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def url(self, name: str) -> str:
        """The address of an empty database."""
        where = ("-h", "127.0.0.1", "-p", str(self.port), "-U", USER)
        self.call("dropdb", *where, "--if-exists", "--force", name)
        self.call("createdb", *where, name)
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"


@contextmanager
def running() -> Iterator[Server]:
    """A server that is gone afterwards, with all that it held."""
    folder = Path(tempfile.mkdtemp(prefix="gitcfg-postgres-"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, USER, _group())
        server = Server(folder)
        server.call(
            "initdb", "-D", str(folder / "data"), "-U", USER, "-A", "trust", "-N", "-E", "UTF8", "--no-locale"
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _group() -> str:
    return "nogroup"
