"""A terminal with a shell in it that somebody closes."""

import os
import pty
import select
import shlex
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path


class Terminal:
    """An interactive bash in a terminal; what it shows is in `shown`."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.shell, self._sink = pty.fork()
        if not self.shell:
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**environment, "TERM": "xterm"})
        self.shown = b""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def type(self, words: Sequence[str]) -> None:
        """A line, and return."""
        os.write(self._sink, f"{shlex.join(words)}\n".encode())

    def close(self) -> None:
        """Close the window; the shell ends."""
        self._over.set()
        self._thread.join()
        os.close(self._sink)
        os.waitpid(self.shell, 0)

    def _look(self) -> None:
        """As long as somebody reads, the terminal is open: so never without an end."""
        while not self._over.is_set():
            if select.select([self._sink], [], [], 0.05)[0]:
                self.shown += os.read(self._sink, 1 << 16)
