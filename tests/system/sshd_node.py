"""A node that is reached by SSH: an address, a root folder, a daemon, and what can be wrong with it."""

import fcntl
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from tests.server.site import until
from tests.system.controls import Daemon
from tests.system.node import CONFIG
from tests.system.sshd import working

ROOT = "/the-root-of-this-node"
"""What a command says for its root folder; who comes in gets the folder of the node that was reached."""
ENTER = """#!/bin/sh
# Runs what somebody asks for by SSH, on the node whose address was asked.
here=${{SSH_CONNECTION% *}}
home={folder}/at/${{here##* }}
echo $PPID >> "$home/sessions"
printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >> "$home/asked"
[ -x "$home/instead" ] && exec "$home/instead"
mkdir -p "$home/tmp"
ulimit -c unlimited
export GITCFG_TESTED="$home" TMPDIR="$home/tmp" PATH="$home/bin:$(cat "$home/path")"
command=$(printf '%s' "$SSH_ORIGINAL_COMMAND" | sed "s#{root}#$home/root#g")
exec /bin/sh -c "$command"
"""
DYING = Path(__file__).with_name("far_dying.py")
FAR_END = b"gitcfg-far/"
"""What the command of each far end says."""
_USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_VALIDATE = """if [ "$1" = validate ]; then
  echo validate >> {home}/verbs
  while [ -e {home}/wait-validate ]; do sleep 0.01; done
  if grep -r refused "$2"; then exit 1; fi
  exit 0
fi"""
_SUDO_NO = """#!/bin/sh
echo "sudo: a password is required" >&2
exit 1
"""
_SUDO_ASKS = """#!/bin/sh
# sudo -S -p PROMPT ... COMMAND: as sudo, it says the prompt on stderr, and reads a line from stdin.
prompt= asks=
while :; do
  case $1 in
    -n) echo "sudo: a password is required" >&2; exit 1 ;;
    -S) asks=yes; shift ;;
    -p) prompt=$2; shift 2 ;;
    --) shift; break ;;
    -*) shift ;;
    *) break ;;
  esac
done
[ -n "$asks" ] || {{ echo "sudo: a terminal is required to read the password" >&2; exit 1; }}
for try in 1 2 3; do
  printf '%s' "$prompt" >&2
  IFS= read -r said || break
  [ "$said" = {password} ] && exec "$@"
  echo "Sorry, try again." >&2
done
echo "sudo: 3 incorrect password attempts" >&2
exit 1
"""


def enter(folder: Path) -> Path:
    """The program that the sshds run for whoever comes in; nodes stand below `folder`/at, by address."""
    place = folder / "enter"
    place.write_text(ENTER.format(folder=folder, root=ROOT))
    place.chmod(0o755)
    return place


class FarNode:
    """`home` has all that belongs to it; `root` is its root folder. The daemon does not run yet."""

    def __init__(self, folder: Path, name: str, address: str) -> None:
        self.name, self.address = name, address
        self.home = folder / "at" / address
        self.root = self.home / "root"
        self.config = self.root / CONFIG.lstrip("/")
        self.state = self.root / "var/lib/gitcfg"
        self.bin = self.home / "bin"
        self.bin.mkdir(parents=True)
        self.daemon = Daemon(self.home / "daemon", self.config)
        self._before(_VALIDATE.format(home=self.daemon.home))
        self._path(_USUAL)

    def _path(self, said: str) -> None:
        (self.home / "path").write_text(f"{said}\n")

    def program(self, name: str, text: str) -> Path:
        """A program of the node's own, before all others of that name."""
        place = self.bin / name
        place.write_text(text)
        place.chmod(0o755)
        return place

    def without_python(self) -> None:
        """From now on there is no Python that a shell would find."""
        kept = self.home / "kept"
        kept.mkdir()
        for folder in _USUAL.split(":"):
            for place in Path(folder).glob("*"):
                if "python" not in place.name and not (kept / place.name).is_symlink():
                    (kept / place.name).symlink_to(place)
        self._path(str(kept))

    def refuses_sudo(self) -> None:
        """From now on it wants a password that there is no way to give."""
        self.program("sudo", _SUDO_NO)

    def asks_sudo(self, password: str) -> None:
        """From now on it wants this password."""
        self.program("sudo", _SUDO_ASKS.format(password=password))

    def hangs(self) -> Path:
        """From now on nothing answers; to remove the file that this returns ends it."""
        return self.instead("#!/bin/sh\nexec sleep 600\n")

    def instead(self, text: str) -> Path:
        """From now on this is run whatever is asked for; to remove the file that this returns ends it."""
        place = self.home / "instead"
        place.write_text(text)
        place.chmod(0o755)
        return place

    def cuts_itself(self, verb: str) -> None:
        """From now on the daemon's control kills the sshd of the last session before it does that."""
        self._before(f'if [ $1 = {verb} ]; then kill -9 "$(tail -n 1 {self.home}/sessions)"; fi')

    def sick(self, word: str) -> None:
        """From now on the daemon is not well with files that have a word."""
        self._before(f"if [ $1 = check ] && grep -rq {word} {self.config}; then exit 1; fi")

    def fails(self) -> None:
        """From now on the daemon cannot be controlled."""
        self._before("if [ $1 != validate ]; then exit 1; fi")

    def says_before_it_fails(self, command: str) -> None:
        """From now on the daemon is not restarted, and a command says something instead."""
        self._before(f"if [ $1 = restart ]; then {command}; exit 1; fi")

    def _before(self, line: str) -> None:
        place = self.daemon.home / "poold"
        place.write_text(place.read_text().replace("\n", f"\n{line}\n", 1))

    def dies(self, at: int) -> None:
        """From now on its far end dies before the thing that it does as number `at`; below 0: never."""
        self.lives()
        (self.home / "dies-at").write_text(f"{at}\n")
        python = shutil.which("python3", path=_USUAL)
        self.program("python3", f'#!/bin/sh\nexec {python} -IS {DYING} {self.home} "$@"\n')

    def lives(self) -> None:
        """From now on its far end is as it is."""
        for place in (self.home / "did", self.bin / "python3"):
            place.unlink(missing_ok=True)

    @property
    def did(self) -> list[str]:
        """What its far end has done since ``dies``."""
        return (self.home / "did").read_text().split()

    def kill_installation(self) -> int:
        """Kill the far ends that are at work here; how many those were."""
        found = working(str(self.home).encode(), b"python", FAR_END)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    def rests(self) -> None:
        """Wait until nobody installs there any more."""
        until(lambda: not busy(self.state / "lock"))

    @property
    def asked(self) -> list[str]:
        """What was asked of it by SSH."""
        file = self.home / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def cut(self) -> int:
        """Kill the sshds of all sessions there are; how many those were."""
        killed = 0
        for pid in map(int, (self.home / "sessions").read_text().split()):
            with suppress(OSError):
                os.kill(_sshd(pid), signal.SIGKILL)
                killed += 1
        return killed

    @property
    def files(self) -> dict[str, str]:
        """The files that stand."""
        return {file.name: file.read_text() for file in sorted(self.config.glob("*"))}

    @property
    def runs(self) -> str | None:
        """The label that the daemon runs with; None: it does not run."""
        return self.daemon.values.get("LABEL")


def _sshd(pid: int) -> int:
    """The sshd of a session: who has started it, or the login shell between the two. OSError: it is over."""
    while not Path("/proc", str(pid), "cmdline").read_bytes().startswith(b"sshd:"):
        pid = int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])
    return pid


def busy(lock: Path) -> bool:
    """Whether somebody has a lock."""
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
