"""What keeps a deploy from a node, told by one word each: no Python, no root, no room, somebody else."""

import fcntl
import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitcfg.deploy.outcomes import FarError, LineLost, NoPython
from gitcfg.deploy.program import LINE, SHELL, command
from gitcfg.deploy.turn import talk
from gitcfg.install.remote.protocol import MARK
from tests.deploy.process import Process, deploy, greeted, line_to, ordered, unheard
from tests.install.world import STATE, World, filled, mounted, package

NEW = package({"/etc/app/app.conf": "one\n"})
OLD_PYTHON = """#!/bin/sh
exec {python} -c '
import sys
sys.version_info = (3, 6, 8)
at = sys.argv.index("-c", 1)
code, sys.argv = sys.argv[at + 1], ["-c", *sys.argv[at + 2 :]]
exec(code)' "$@"
"""


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def only(tmp_path: Path) -> Path:
    """A folder with a few programs; for who has no other on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat"):
        (folder / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    return folder


def tried(words: str, path: str | None = None) -> FarError:
    line = Process(words)
    if path is not None:
        line = Process(f"PATH={shlex.quote(path)}; export PATH; {words}")
    try:
        with pytest.raises(FarError) as found:
            talk(line, lambda hello: ordered(NEW), unheard)
        return found.value
    finally:
        line.close()
        line.process.wait(30)


def test_no_python(world: World, only: Path) -> None:
    found = tried(command((), str(world.root)), str(only))
    assert isinstance(found, NoPython)
    assert (found.kind, found.message) == ("no-python", "There is no python3 on the node.")
    assert not any(world.root.iterdir())


def test_an_old_python(world: World, only: Path) -> None:
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("the system has no python3")
    program(only, "python3", OLD_PYTHON.format(python=python))
    found = tried(command((), str(world.root)), str(only))
    assert found.kind == "no-python"
    assert "The node has Python 3.6" in found.message
    (only / "python3.99").symlink_to(python)
    assert tried(command((), str(world.root)), str(only)).kind == "no-python"


def test_a_python_that_cannot_run(world: World, only: Path) -> None:
    program(only, "python3", "#!/bin/sh\necho libpython is missing >&2\nexit 127\n")
    found = tried(command((), str(world.root)), str(only))
    assert found.kind == "no-python"
    assert "libpython is missing" in found.message


def test_a_python_that_is_killed(world: World, only: Path) -> None:
    """As by a kernel without memory: that is no reason to install another one."""
    program(only, "python3", "#!/bin/sh\nkill -9 $$\n")
    found = tried(command((), str(world.root)), str(only))
    assert (found.kind, "was killed" in found.message) == ("lost", True)


class Cut:
    """A line that ends after these words, with no word of how."""

    def __init__(self, words: str) -> None:
        self._words = words.encode()

    def send(self, data: bytes) -> None:
        """Nobody hears it."""

    def receive(self, most: int) -> bytes:
        words, self._words = self._words, b""
        return words

    def stderr(self) -> str:
        return ""

    def ended(self) -> int | None:
        return None


@pytest.mark.parametrize("heard", [[], [LINE], [SHELL], [LINE, SHELL]])
def test_a_line_that_is_cut_before_python_speaks(heard: list[str]) -> None:
    with pytest.raises(LineLost) as found:
        talk(Cut("".join(f"{MARK} {word}\n" for word in heard)), lambda hello: ordered(NEW), unheard)
    assert (found.value.kind, found.value.after) == ("lost", "")


def test_a_newer_python_beside_an_old_one_is_taken(world: World, only: Path) -> None:
    """Its own command line tells what to start; the stand-in for an old one is no Python but passes it on."""
    program_ = shutil.which("python3", path="/usr/bin:/bin")
    if program_ is None:
        pytest.skip("the system has no python3")
    asks = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.run([program_, "-c", asks], capture_output=True, text=True).stdout.strip()
    (only / f"python{version}").symlink_to(program_)
    with_path = f"PATH={shlex.quote(str(only))}; export PATH; {command((), str(world.root), STATE)}"
    line = Process(with_path)
    done = talk(line, lambda hello: ordered(NEW), unheard)
    line.close()
    assert line.process.wait(30) == 0
    assert done is not None
    assert done.outcome.result == "ok"


@pytest.mark.parametrize(
    "says",
    ["sudo: a password is required", "Sorry, user x is not allowed to execute /bin/sh as root on n1."],
)
def test_sudo_that_does_not_let_one_through(world: World, only: Path, says: str) -> None:
    sudo = program(only, "sudo", f"#!/bin/sh\necho {shlex.quote(says)} >&2\nexit 1\n")
    found = tried(command((str(sudo), "-n"), str(world.root)))
    assert found.kind == "sudo"
    assert says in found.message


def test_no_sudo_at_all(world: World) -> None:
    found = tried(command(("/nonexistent/sudo", "-n"), str(world.root)))
    assert found.kind == "sudo"


def test_sudo_that_does(world: World, only: Path) -> None:
    sudo = program(only, "sudo", '#!/bin/sh\necho lecture >&2\nshift\nexec "$@"\n')
    line = Process(command((str(sudo), "-n"), str(world.root), STATE))
    done = talk(line, lambda hello: ordered(NEW), unheard)
    line.close()
    assert line.process.wait(30) == 0
    assert done is not None
    assert done.outcome.result == "ok"


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become another")
def test_who_is_not_root() -> None:
    setpriv = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    found = tried(f"{setpriv} /bin/sh -c {shlex.quote(command((), '/'))}")
    assert found.kind == "sudo"
    assert "is not root on this node" in found.message


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become another")
def test_who_is_not_root_in_a_folder_of_roots(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | 0o711)
    root = tmp_path / "root"
    (root / "var/lib/gitcfg").mkdir(parents=True, mode=0o700)
    (root / "var/lib/gitcfg").chmod(0o700)
    setpriv = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    assert tried(f"{setpriv} /bin/sh -c {shlex.quote(command((), str(root)))}").kind == "sudo"


def test_a_login_that_runs_no_commands() -> None:
    found = tried("echo This account is currently not available.; exit 1")
    assert found.kind == "refused"


def test_somebody_else_at_work(world: World) -> None:
    deploy(world, NEW)
    with (world.state("lock")).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("gitcfg deploy of alice@desk, process 7")
        lock.flush()
        assert "alice@desk" in greeted(world).busy
        with line_to(world) as line, pytest.raises(FarError) as found:
            talk(line, lambda hello: ordered(package({}, commit="b"), wait=0.0), unheard)
        assert deploy(world, NEW, dry=True).outcome.result == "unchanged"
    assert found.value.kind == "busy"
    assert "alice@desk" in found.value.message
    assert greeted(world).busy == ""


def test_who_has_the_lock_is_named(world: World) -> None:
    deploy(world, NEW, who="bob@desk")
    assert world.state("lock").read_text().startswith("gitcfg deploy of bob@desk, process ")


@contextmanager
def small_state(world: World, options: str) -> Iterator[Path]:
    with mounted(world.state(""), options):
        world.state("").chmod(0o700)
        yield world.state("")


@pytest.mark.parametrize("names", [False, True], ids=["bytes", "files"])
def test_a_full_state_folder(world: World, names: bool) -> None:
    with small_state(world, "size=1m,nr_inodes=200") as folder:
        free = filled(folder, names)
        with line_to(world) as line, pytest.raises(FarError) as found:
            talk(line, lambda hello: ordered(NEW), unheard)
        assert found.value.kind == "full"
        assert not (world.root / "etc").exists()
        free()
        assert deploy(world, NEW).outcome.result == "ok"


@pytest.mark.parametrize("dry", [False, True])
def test_a_state_folder_with_too_little_room(world: World, dry: bool) -> None:
    """A dry run says so by the same word."""
    big = package({"/etc/big": "x" * 900_000})
    with small_state(world, "size=800k"):
        with line_to(world) as line, pytest.raises(FarError) as found:
            talk(line, lambda hello: ordered(big, dry=dry), unheard)
        assert found.value.kind == "full"
        assert "KiB left but needs" in found.value.message
        assert not (world.root / "etc").exists()


def test_what_cannot_be_kept_does_not_keep_it_from_being_done(world: World) -> None:
    """There is room for the program, and none for its compiled form."""
    with small_state(world, "size=450k"):
        assert deploy(world, NEW).outcome.result == "ok"
        assert deploy(world, NEW).sent < 1000
        assert len(list(world.state("far").iterdir())) == 1


def test_a_state_folder_of_others_is_refused(world: World) -> None:
    deploy(world, NEW)
    world.state("").chmod(0o777)
    with line_to(world) as line, pytest.raises(FarError, match="is writable by other users") as found:
        talk(line, lambda hello: ordered(NEW), unheard)
    assert found.value.kind == "refused"


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        ("/etc/gitcfg/agent.toml", "installed"),
        ("/etc/systemd/system/multi-user.target.wants/gitcfg-agent.service", "installed"),
        ("/etc/systemd/system/timers.target.wants/gitcfg-agent.timer", "installed"),
        ("/etc/app/agent.toml", ""),
    ],
)
def test_an_agent_is_told_of(world: World, path: str, agent: str) -> None:
    world.write(path, "")
    assert greeted(world).agent == agent


def test_an_agent_that_runs(world: World) -> None:
    deploy(world, NEW)
    world.write("/etc/gitcfg/agent.toml", "")
    with world.state("agent.lock").open("w") as lock:
        assert greeted(world).agent == "installed"
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert greeted(world).agent == "running"
        newer = package({"/etc/app/app.conf": "two\n"}, commit="b")
        with line_to(world) as line, pytest.raises(FarError, match="An agent manages this node"):
            talk(line, lambda hello: ordered(newer), unheard)
        assert world.read("/etc/app/app.conf") == "one\n"
        assert deploy(world, newer, dry=True).outcome.changed == ("/etc/app/app.conf",)
        assert deploy(world, newer, force_agent=True).outcome.result == "ok"


SHELLS = [
    shell
    for shell in ("sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "csh", "tcsh")
    if shutil.which(shell)
]


@pytest.mark.parametrize("shell", SHELLS)
def test_any_login_shell_can_run_it(world: World, shell: str) -> None:
    root = world.root / 'it\'s a "root"'
    root.mkdir()
    line = Process(f"exec {shell} -c {shlex.quote(command((), str(root), STATE))}")
    done = talk(line, lambda hello: ordered(NEW), unheard)
    line.close()
    assert line.process.wait(30) == 0
    assert done is not None
    assert (root / "etc/app/app.conf").read_text() == "one\n"


def test_the_command_is_one_that_every_shell_reads_alike() -> None:
    words = command()
    assert len(words) < 1300
    for character in ("\n", "!", "\t", "`", "'\"'"):
        assert character not in words
    assert words.replace('\\"', "").replace("\\n", "").count("\\") == 0
