"""A server as a process of its own: begun, measured from outside by /proc, and ended."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.agents.wire import Place

_TICKS = os.sysconf("SC_CLK_TCK")
_END = 30.0


class Process:
    """`place` is where it listens, `key` its public key, as it has said itself."""

    def __init__(self, child: "subprocess.Popen[str]", place: Place, key: str) -> None:
        self.child, self.place, self.key = child, place, key

    @property
    def cpu(self) -> float:
        """Seconds of CPU until now."""
        return cpu(self.child.pid)

    @property
    def peak(self) -> float:
        """MiB at most since `forget`."""
        return int(_status(self.child.pid)["VmHWM"].split()[0]) / 1024

    @property
    def sockets(self) -> int:
        """Open connections, and what it listens on."""
        folder = Path(f"/proc/{self.child.pid}/fd")
        return sum(1 for one in folder.iterdir() if os.readlink(one).startswith("socket:"))

    def forget(self) -> None:
        """Let the peak of memory begin anew."""
        Path(f"/proc/{self.child.pid}/clear_refs").write_text("5")


def cpu(pid: int, children: int = 0) -> float:
    """Seconds of CPU of a process; with `children` 2, of its ended children, too."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 13 + children])) / _TICKS


def family(pid: int) -> float:
    """Seconds of CPU of a process and all its children, those that live and those that ended."""
    total = cpu(pid, 2)
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
                total += cpu(int(name)) if int(parent) == pid else 0.0
            except (FileNotFoundError, ProcessLookupError):
                continue
    return total


def _status(pid: int) -> Mapping[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@contextmanager
def begun(words: Sequence[str], log: Path) -> Iterator[Process]:
    """A server that says where it listens and by which key it is known; it is gone afterwards."""
    with log.open("w") as opened:
        child = subprocess.Popen(list(words), stdout=subprocess.PIPE, stderr=opened, text=True)
    try:
        assert child.stdout is not None
        said = child.stdout.readline() + child.stdout.readline()
        found = re.search(r"http://([^:]+):(\d+)\. .*\nserver_key = \"(\S+)\"", said)
        if found is None:
            raise RuntimeError(f"The server does not begin: {said}{log.read_text()[-2000:]}")
        yield Process(child, Place(found[1], int(found[2])), found[3])
    finally:
        _end(child)


def _end(child: "subprocess.Popen[str]") -> None:
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
    try:
        child.wait(_END)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()
