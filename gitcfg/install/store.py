"""A node for installations: its place (limits, disk, clock), its state folder, and the lock in it."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple, Protocol

from .commands import NONE, Clock, Redaction, SystemClock
from .disk import Disk, Tree, read_file, remove_tree, write_file
from .outcome import Busy, Refused


class Listener(Protocol):
    """A receiver of an installation's progress."""

    def notify(self, step: str, state: str) -> None:
        """Handle progress: `step` is like `restart startd`; `state` is begun, done or failed."""


class NoListener:
    """A listener that ignores everything."""

    def notify(self, step: str, state: str) -> None:
        """Ignore it."""


class Limits(NamedTuple):
    """Limits in seconds, except `kept`, a number of replaced files, and `diff`, characters of a diff.

    Even a caller that does not want to wait waits a second for the lock: if an installation is killed while
    it starts a command, the new process has the lock until it becomes that command.
    """

    lock_wait: float = 1.0
    validate: float = 60.0
    activate: float = 300.0
    check_pause: float = 1.0
    kept: int = 100
    diff: int = 16_384


class Place(NamedTuple):
    """A node: `root` is "/" in production; `state` is a path below it; `who` names the lock's holder.

    `redaction` is removed from the output of commands: an installation adds the words of its secrets.
    """

    root: str
    state: str = "/var/lib/gitcfg"
    who: str = "gitcfg"
    listener: Listener = NoListener()
    limits: Limits = Limits()
    disk: Disk = Disk()
    clock: Clock = SystemClock()
    redaction: Redaction = NONE

    @property
    def folder(self) -> str:
        """The state folder as a normal absolute path below the root."""
        return "/" + self.state.strip("/")


# The state folder.

BACKUP, STAGED, KEPT, JOURNAL = "backup", "staged", "kept", "journal"
FRESH = ".new"
"""The suffix of gitcfg's own file until it is renamed to its final name."""
_MOST = 1 << 30


class Store(NamedTuple):
    """The open state folder (`at`) of a node with the files `tree`; `path` is its path for commands."""

    disk: Disk
    tree: Tree
    at: int
    path: str

    def has(self, name: str) -> bool:
        """Return whether there is a file or folder of this name."""
        return self.disk.stat(self.at, name) is not None

    def read(self, name: str) -> bytes | None:
        """Return a file's content; None if there is none."""
        return read_file(self.disk, self.at, name, _MOST) if self.has(name) else None

    def read_json(self, name: str) -> Any:
        """Return a file's content as data; None if there is none or it is not JSON."""
        raw = self.read(name)
        with suppress(ValueError):
            return None if raw is None else json.loads(raw)
        return None

    def write_json(self, name: str, data: object) -> None:
        """Write a file, whole or not at all; it is on the disk when this returns.

        Its content is synced before it gets its name: else a loss of power could leave an empty file.
        """
        fresh = name + FRESH
        self.disk.unlink(self.at, fresh)
        try:
            write_file(self.disk, self.at, fresh, json.dumps(data).encode(), None, 0o600)
            self.disk.rename(self.at, fresh, self.at, name)
        except OSError:
            # Half a file would take space that the rollback needs.
            with suppress(OSError):
                self.disk.unlink(self.at, fresh)
            raise
        self.disk.sync(self.at)

    def empty(self, name: str) -> None:
        """Make an empty folder of gitcfg's own; remove an old one."""
        remove_tree(self.disk, self.at, name)
        self.disk.make_folder(self.at, name, 0o700)

    def remove(self, name: str) -> None:
        """Remove a folder or file of gitcfg's own, with everything in it."""
        remove_tree(self.disk, self.at, name)

    @contextmanager
    def folder(self, name: str) -> Iterator[int]:
        """Open a folder of gitcfg's own."""
        inside = self.disk.folder(name, self.at)
        try:
            yield inside
        finally:
            os.close(inside)


@contextmanager
def open_store(place: Place) -> Iterator[Store]:
    """Open the state folder, and make it if it is missing; raise Refused if others could write to it."""
    # A path in a command must be valid in the folder where the command runs.
    disk, top = place.disk, os.path.abspath(place.root)
    try:
        root = disk.folder(top)
    except OSError as error:
        raise Refused(f"Cannot open {place.root}: {error.strerror}.") from error
    with ExitStack() as stack:
        stack.callback(os.close, root)
        tree = Tree(disk, root)
        whole = os.path.join(top, place.folder[1:])
        at = _enter(tree, place.folder, stack, whole)
        _check_owner(at, whole)
        yield Store(disk, tree, at, whole)


def _enter(tree: Tree, path: str, stack: ExitStack, whole: str) -> int:
    try:
        for folder in tree.missing_folders([f"{path}/x"]):
            tree.make(folder, 0o700 if folder == path else 0o755)
        return stack.enter_context(tree.folder(path))
    except PermissionError as error:
        hints = ("Run it as root.",) if os.geteuid() else ()
        raise Refused(f"Cannot open the state folder {whole}: {error.strerror}.", *hints) from error


def _check_owner(at: int, path: str) -> None:
    found = os.fstat(at)
    if found.st_uid == 0 != os.geteuid():
        raise Refused(f"The state folder {path} belongs to root.", "Run it as root.")
    if found.st_uid != os.geteuid():
        raise Refused(
            f"The state folder {path} belongs to the user {found.st_uid}, who installed here before.",
            "Run it as that user, or change the owner with `chown -R`.",
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise Refused(f"The state folder {path} is writable by other users.", f"Run `chmod 700 {path}`.")


# The lock, which the kernel releases when its holder dies.

LOCK = "lock"
_PAUSE = 0.1
LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def hold_lock(store: Store, place: Place) -> Iterator[None]:
    """Hold the lock, after waiting at most as long as the limits allow; raise Busy with its holder."""
    until = place.clock.now() + place.limits.lock_wait
    while True:
        file = os.open(LOCK, LOCK_FLAGS, 0o600, dir_fd=store.at)
        try:
            _wait(file, place, until)
            found = store.disk.stat(store.at, LOCK)
            # A lock file that was replaced in the meantime excludes no one.
            if found is not None and os.path.samestat(found, os.fstat(file)):
                with suppress(OSError):  # a full disk must not prevent this: the work may be a rollback
                    os.ftruncate(file, 0)
                    os.pwrite(file, f"{place.who}, process {os.getpid()}".encode(), 0)
                yield
                return
        finally:
            os.close(file)


def _wait(file: int, place: Place, until: float) -> None:
    while not try_lock(file):
        if place.clock.now() >= until:
            holder = os.pread(file, 200, 0).decode(errors="replace") or "unknown process"
            raise Busy(
                f"Another installation is running on this node: {holder}.", "Try again when it has ended."
            )
        place.clock.sleep(_PAUSE)


def try_lock(file: int) -> bool:
    """Take the lock on an open file, unless another process holds it; return whether it was taken."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
