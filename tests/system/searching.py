"""A search for words that must stand nowhere: in files, in git's objects, and in what processes are told."""

import base64
import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def spellings(word: str) -> tuple[bytes, ...]:
    """A word as it is, in hexadecimal digits, backwards, and in base64 wherever it begins there."""
    raw = word.encode()
    letters = [base64.b64encode(b"x" * at + raw)[(at * 8 + 5) // 6 : -4] for at in range(3)]
    return (raw, raw.hex().encode(), raw[::-1], *letters)


class Search:
    """For some words in any spelling. `found` is where one was seen while somebody looked on."""

    def __init__(self, *words: str) -> None:
        self._all = [spelling for word in words for spelling in spellings(word)]
        self.found: set[str] = set()

    def within(self, raw: bytes) -> bool:
        return any(one in raw for one in self._all)

    def files(self, *folders: Path, but: Callable[[Path], bool] = lambda path: False) -> list[str]:
        """The files below some folders that hold a word. What goes meanwhile holds none."""
        return [
            str(path) for folder in folders for path in _files(folder) if not but(path) and self._holds(path)
        ]

    def _holds(self, path: Path) -> bool:
        try:
            return self.within(path.read_bytes())
        except OSError:
            return False

    def objects(self, repository: Path) -> bool:
        """Whether any object of git's holds a word: they are compressed in their files."""
        line = ["git", "-C", str(repository), "cat-file", "--batch-all-objects", "--batch"]
        return self.within(subprocess.run(line, capture_output=True, check=True).stdout)

    @contextmanager
    def looking_on(self, look: Callable[[], Iterable[str]]) -> Iterator[None]:
        """Look again and again, at processes and at what `look` finds, from another thread."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.02):
                self.found |= {*self._processes(), *look()}

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _processes(self) -> Iterator[str]:
        for process in Path("/proc").glob("[0-9]*"):
            if process.name == str(os.getpid()):
                continue
            yield from (str(process / name) for name in ("cmdline", "environ") if self._holds(process / name))


def _files(folder: Path) -> Iterator[Path]:
    for top, _, names in os.walk(folder):
        yield from (path for path in (Path(top, name) for name in names) if path.is_file())
