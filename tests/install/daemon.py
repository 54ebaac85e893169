"""A small daemon: reads a file, reads it again on SIGHUP, refuses bad values and dies of worse ones.

    daemon.py FOLDER CONFIG

FOLDER/pid is its process, FOLDER/loaded the configuration that it runs with, FOLDER/reply its last answer.
"""

import os
import signal
import sys
from pathlib import Path

FOLDER, CONFIG = Path(sys.argv[1]), Path(sys.argv[2])


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP, signal.SIGTERM})
    problem = load()
    write("reply", problem)
    if problem:
        sys.exit(1)
    write("pid", f"{os.getpid()}\n")
    while signal.sigwait({signal.SIGHUP, signal.SIGTERM}) == signal.SIGHUP:
        write("reply", load())


def load() -> str:
    try:
        text = CONFIG.read_text()
    except OSError as error:
        return f"{CONFIG.name}: {error.strerror}"
    if "deadly" in text:
        os._exit(3)
    if "bad" in text:
        return f"{CONFIG.name}: bad value"
    write("loaded", text)
    return ""


def write(name: str, text: str) -> None:
    fresh = FOLDER / f"{name}.{os.getpid()}"
    fresh.write_text(text)
    fresh.rename(FOLDER / name)


main()
