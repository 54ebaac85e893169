"""Starts one command and prints what it used; small, since a child's peak memory counts its parent's.

Linux takes the memory of the process that forked for the child's peak until it runs its own program. So
what starts commands must be smaller than any of them. Reads its task as JSON from the first argument.

Some commands leave processes that outlive them, as ansible its connections. Where these `orphans` are meant,
they come to this program, are told to end, and count.
"""

import contextlib
import json
import os
import resource
import signal
import sys
import time

_SUBREAPER = 36


def child(task: dict) -> None:
    """Become the command, in a session of its own. Never returns."""
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (task["bytes"], task["bytes"]))
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


def end(group: int) -> None:
    """Kill what is left of the command's session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def guard(pid: int, seconds: float) -> list[bool]:
    """End the command past its time, or if this program is told to end or left alone. True: it was late."""
    late: list[bool] = []
    parent, last = os.getppid(), time.monotonic() + seconds

    def look(number: int, _: object) -> None:
        if number != signal.SIGALRM or os.getppid() != parent:
            end(pid)
        elif time.monotonic() >= last:
            late.append(True)
            end(pid)

    for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, look)
    signal.setitimer(signal.ITIMER_REAL, min(1, seconds), 0.5)
    return late


def adopt() -> None:
    """Become the parent of whoever is left."""
    import ctypes  # which takes memory

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """Who is left."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(word) for word in file.read().split()]


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
    if task["orphans"]:
        adopt()
    start = time.monotonic()
    pid = os.fork()
    if not pid:
        child(task)
    late = guard(pid, task["seconds"])
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wall = time.monotonic() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    if not task["orphans"]:
        end(pid)  # before the child is reaped, so that its number is still its own
    _, status, used = os.wait4(pid, 0)
    if task["orphans"]:
        clear()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "exit": os.waitstatus_to_exitcode(status),
        "cpu": used.ru_utime + used.ru_stime,
        "wall": wall,
        "rss": used.ru_maxrss / 1024,
        "late": bool(late),
    }


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
