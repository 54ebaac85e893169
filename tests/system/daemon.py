"""A small daemon that reads HTCondor's files, refuses some values and dies of others; and what controls it.

    daemon.py HOME CONFIG restart|reload|stop|check

HOME/pid is its process, HOME/reply its last answer, HOME/verbs what was asked of it, and HOME/loads has a
line of JSON for each time that it took its files in. A verb waits as long as there is HOME/wait-VERB.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HOME, CONFIG, VERB = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
MOST_MEMORY = 1 << 20
SECONDS = 60


def run() -> str:
    """The daemon itself; what it refuses to start with."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP, signal.SIGTERM})
    write("pid", f"{os.getpid()}\n")
    problem = load("start")
    write("reply", problem)
    while not problem and signal.sigwait({signal.SIGHUP, signal.SIGTERM}) == signal.SIGHUP:
        write("reply", load("reload"))
    return problem


def load(how: str) -> str:
    """Take the files in; what is wrong with them."""
    found = values()
    if how == "start" and int(found["MEMORY"]) > MOST_MEMORY:
        os.kill(os.getpid(), signal.SIGSEGV)
    if not found["MAX_JOBS"].isdigit():
        return f"MAX_JOBS is {found['MAX_JOBS']}, which is no number"
    with (HOME / "loads").open("a") as loads:
        loads.write(json.dumps({"at": time.monotonic(), "how": how, "values": found}) + "\n")
    return ""


def values() -> dict[str, str]:
    """What all files together say."""
    found = {}
    for file in sorted(CONFIG.glob("*.config")):
        for line in file.read_text().splitlines():
            name, equals, value = line.partition("=")
            if equals:
                found[name.strip()] = value.strip()
    return found


def restart() -> str:
    """End it and start it anew."""
    stop()
    (HOME / "reply").unlink(missing_ok=True)
    line = [sys.executable, "-I", "-S", __file__, str(HOME), str(CONFIG), "run"]
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(line, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    wait(lambda: child.poll() is not None or (HOME / "reply").exists())
    if (HOME / "reply").exists():
        return (HOME / "reply").read_text()
    return f"the daemon died of {signal.Signals(-child.returncode).name}"


def reload() -> str:
    """Have it read its files again."""
    pid = alive()
    if not pid:
        return "the daemon does not run"
    (HOME / "reply").unlink(missing_ok=True)
    os.kill(pid, signal.SIGHUP)
    wait((HOME / "reply").exists)
    return (HOME / "reply").read_text()


def stop() -> str:
    """End it."""
    pid = alive()
    if pid:
        os.kill(pid, signal.SIGTERM)
        wait(lambda: not alive())
    return ""


def check() -> str:
    """Does it run with what stands in its files?"""
    if not alive():
        return "the daemon does not run"
    last = json.loads((HOME / "loads").read_text().splitlines()[-1])
    return "" if last["values"] == values() else "the daemon runs with something else"


def alive() -> int:
    """Its process; 0: it does not run."""
    try:
        pid = int((HOME / "pid").read_text())
        state = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else pid


def wait(true: Callable[[], object]) -> None:
    """Until something is so."""
    end = time.monotonic() + SECONDS
    while not true():
        if time.monotonic() > end:
            sys.exit("it took too long")
        time.sleep(0.005)


def write(name: str, text: str) -> None:
    """A file, whole or not at all."""
    fresh = HOME / f"{name}.{os.getpid()}"
    fresh.write_text(text)
    fresh.rename(HOME / name)


def main() -> str:
    """Do what was asked; what is wrong."""
    if VERB != "run":
        with (HOME / "verbs").open("a") as verbs:
            verbs.write(f"{VERB}\n")
        wait(lambda: not (HOME / f"wait-{VERB}").exists())
    return {"run": run, "restart": restart, "reload": reload, "stop": stop, "check": check}[VERB]()


sys.exit(main() or None)
