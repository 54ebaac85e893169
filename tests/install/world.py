"""A node for tests: a root folder, daemons that really run, and packages that mean their files."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gitcfg.install.disk import Disk
from gitcfg.install.installation import install
from gitcfg.install.outcome import Outcome
from gitcfg.install.package import Actions, Check, File, Package, Subsystem, file_digest, with_hidden_content
from gitcfg.install.policy import Policy
from gitcfg.install.store import Limits, Place

HERE = Path(__file__).parent
SCRIPT = str(HERE / "daemon.sh")
STATE = "/var/lib/gitcfg"
POLICY = Policy(
    ("/etc/**", "/srv/**"), ((SCRIPT, "**"), ("/bin/true", "**"), ("/bin/false",), ("/bin/sh", "**"))
)
KILLED = 99


class QuickClock:
    """Real time; waiting is a hundred times shorter."""

    def now(self) -> float:
        import time

        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        import time

        time.sleep(seconds / 100)


class Told:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str]] = []

    def notify(self, step: str, state: str) -> None:
        self.steps.append((step, state))


class Dying(Disk):
    """Does `fate` at the change number `at`: before it, or once it is done."""

    def __init__(self, at: int, when: str, fate: Callable[[], None]) -> None:
        self.at = at
        self.when = when
        self.fate = fate
        self.count = 0
        for name in self.changing:
            setattr(self, name, self._counted(getattr(self, name)))

    def _counted(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            number, self.count = self.count, self.count + 1
            if (number, self.when) == (self.at, "before"):
                self.fate()
            result = work(*args)
            if (number, self.when) == (self.at, "after"):
                self.fate()
            return result

        return counted


def counting() -> Dying:
    """A disk that only counts."""
    return Dying(-1, "before", lambda: None)


def in_child(work: Callable[[], object]) -> int:
    """Run something in a process of its own; its exit code."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(number: int, when: str, work: Callable[[Disk], object]) -> int:
    """Run something in a process that is gone at its change `number`; KILLED, or 0 if it came through."""
    return in_child(lambda: work(Dying(number, when, lambda: os._exit(KILLED))))


def made_file(
    path: str, content: str | bytes, mode: str = "0644", owner: str = "root", **concerns: str
) -> File:
    """`owner` is the group too; the rest are the subsystems that it concerns."""
    raw = content.encode() if isinstance(content, str) else content
    return File(path, raw, mode, owner, owner, file_digest(mode, owner, owner, raw), concerns)


def secret_file(path: str, true: str, version: int = 1, **more: str) -> File:
    """One that holds a secret: what is recorded shows its name."""
    shown = f"password = <secret pool v{version}>\n"
    return with_hidden_content(made_file(path, shown, more.pop("mode", "0600"), **more), true.encode())


def package(files: Mapping[str, Any], *subsystems: Subsystem, commit: str = "a", **more: Any) -> Package:
    made = {path: text if isinstance(text, File) else made_file(path, text) for path, text in files.items()}
    return Package(
        node="n1",
        commit=commit * 40,
        digest=commit * 64,
        files=made,
        subsystems={one.name: one for one in subsystems},
        **more,
    )


@dataclass
class World:
    """`root` is the node's; `daemons` holds a folder for each daemon."""

    root: Path
    daemons: Path
    names: list[str] = field(default_factory=list)

    def place(self, disk: Disk | None = None, **limits: Any) -> Place:
        return Place(
            str(self.root), STATE, "test", limits=Limits(**limits), disk=disk or Disk(), clock=QuickClock()
        )

    def daemon(self, name: str, config: str, **more: Any) -> Subsystem:
        """A subsystem of a real daemon; it does not run yet."""
        folder = self.daemons / name
        folder.mkdir(exist_ok=True)
        if name not in self.names:
            self.names.append(name)
        tail = (str(folder), str(self.root) + config, sys.executable)
        verbs: dict[str, Any] = {verb: (SCRIPT, verb, *tail) for verb in ("reload", "restart", "stop")}
        verbs["validate"] = (SCRIPT, "validate", str(folder), "{new}" + config)
        verbs["check"] = Check((SCRIPT, "check", *tail), 20.0, 1)
        return Subsystem(name, **{**verbs, **more})

    def install(
        self, new: Package, policy: Policy = POLICY, disk: Disk | None = None, **asked: Any
    ) -> Outcome:
        return install(self.place(disk), new, Actions(**asked), policy)

    def install_asked(self, new: Package, asked: Actions, disk: Disk | None = None) -> Outcome:
        return install(self.place(disk), new, asked, POLICY)

    def runs_with(self, name: str) -> str | None:
        """The configuration that a daemon has loaded; None if it does not run."""
        folder = self.daemons / name
        with suppress(OSError, ValueError):
            process = Path("/proc", (folder / "pid").read_text().strip(), "stat").read_text()
            # One that nobody has waited for yet does not run any more.
            return None if process.split()[2] == "Z" else (folder / "loaded").read_text()
        return None

    def log(self, name: str) -> list[str]:
        """What was done to a daemon since this was asked last, without what changes nothing."""
        log = self.daemons / name / "log"
        lines = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if line not in ("check", "validate")]

    def stuck(self, name: str, word: str = "") -> None:
        """A daemon does not stop, and takes no file that has this word; without one it does again."""
        file = self.daemons / name / "stuck"
        file.write_text(word) if word else file.unlink()

    def write(self, path: str, content: str) -> Path:
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        return target

    def read(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text()

    def state(self, name: str) -> Path:
        return self.root / STATE.lstrip("/") / name

    def end(self) -> None:
        """All daemons of this world, also those of a restart that was killed before it could say so."""
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().split(b"\0")
                if any(word.startswith(f"{self.daemons}/".encode()) for word in words):
                    os.kill(int(process.name), signal.SIGKILL)


def standing(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a root but the state folder: kind, mode, owner and content."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        name = "/" + path.relative_to(root).as_posix()
        if not name.startswith(STATE) and name not in ("/var", "/var/lib"):
            found[name] = _what(path)
    return found


def _what(path: Path) -> tuple[object, ...]:
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return ("link", os.readlink(path))
    own = (stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid)
    return ("folder", *own) if path.is_dir() else ("file", *own, path.read_bytes())


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A file system in memory of its own there; skips where none can be mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=755,{options}", "none", folder], check=False)
    if done.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The same folder, where nothing can be written; also while somebody has a file there open."""
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def filled(folder: Path, names: bool = False) -> Callable[[], None]:
    """Take all room of a file system, or all its files; the result gives it back."""
    ballast = folder / "ballast"
    ballast.mkdir(exist_ok=True)
    with suppress(OSError):
        for number in range(100_000):
            with (ballast / str(number)).open("wb", buffering=0) as file:
                while not names:
                    file.write(b"x" * 512)
    return lambda: shutil.rmtree(ballast)
