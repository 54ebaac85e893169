"""Starts one command and prints what it used, with all that it left behind.

Small, as bench/measure/launcher.py. ansible's connections are processes that outlive it: whoever is left when
the command has ended comes to this program (it is their subreaper), is told to end, and counts.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time

_SUBREAPER = 36


def child(task: dict) -> None:
    """Become the command. Never returns."""
    try:
        os.setsid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(os.open(task["stdout"], flags, 0o644), 1)
        os.dup2(os.open(task["stderr"], flags, 0o644), 2)
        os.chdir(task["folder"])
        os.execve(task["command"][0], task["command"], task["environment"])
    except OSError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(127)


def children() -> list[int]:
    """Who is left."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(word) for word in file.read().split()]


def reaped(main: int, until: float) -> tuple[int, bool]:
    """Wait for the command; its status, and whether its time ran out first."""
    late = False
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == main:
            return status, late
        if not pid:
            if time.monotonic() > until or os.getppid() == 1:
                late = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(main, signal.SIGKILL)
            time.sleep(0.002)


def clear() -> None:
    """End who is left, first kindly."""
    for number in (*[signal.SIGTERM] * 20, *[signal.SIGKILL] * 20):
        for pid in children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        time.sleep(0.05)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not children():
            return


def main(task: dict) -> dict:
    """Run the command; past its time, kill it with all that it started."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    start = time.monotonic()
    pid = os.fork()
    if not pid:
        child(task)
    status, late = reaped(pid, start + task["seconds"])
    wall = time.monotonic() - start
    clear()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    code = os.waitstatus_to_exitcode(status)
    return {"exit": code, "cpu": cpu, "wall": wall, "rss": used.ru_maxrss / 1024, "late": late}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
