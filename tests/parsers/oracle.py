"""HTCondor itself, bindings and all, asked in a process of its own what it does with a text."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from gitcfg.check.target_parsers import Meant, Question, Verdicts
from gitcfg.parsers.parsers import Parsers

needs_htcondor = pytest.mark.skipif(not find_spec("htcondor2"), reason="HTCondor's parser is not installed")

# Reads requests, lines of JSON: a text, names, and the daemon that it is read for. Each is answered by a
# fork, since a bad text ends the process and a circle of macros hangs it, or makes it die of recursion.
CHILD = r"""
import ctypes, json, os, re, resource, signal, sys
import htcondor2

library = ctypes.CDLL(re.search(r"\S*/libcondor_utils\S*", open("/proc/self/maps").read())[0])
expand = library["_Z12expand_paramPKc"]
expand.restype, expand.argtypes = ctypes.c_void_p, [ctypes.c_char_p]

def read(text, names, daemon):
    if daemon:
        htcondor2.set_subsystem(daemon)
    open("config", "wb").write(text.encode())
    library["_Z25clear_global_config_tablev"]()
    library["_Z24init_global_config_tablei"](2)
    library["_Z21process_config_sourcePKciS0_S0_i"](b"config", 0, b"file", None, 1)
    for name in names:
        expand(f"$({name})".encode())

for line in sys.stdin:
    complaints = os.memfd_create("complaints")
    child = os.fork()
    if not child:
        os.dup2(complaints, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.setitimer(signal.ITIMER_PROF, 0.2)
        read(*json.loads(line))
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = os.pread(complaints, 10000, 0).decode(errors="replace")
    os.close(complaints)
    print(json.dumps([status, said]), flush=True)
"""


class Oracle:
    """HTCondor, to be asked again and again."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"CONDOR_CONFIG": "/dev/null"},
            cwd=folder,
            encoding="utf-8",
        )

    def ask(self, text: str, names: list[str], daemon: str = "") -> tuple[int, str]:
        """How reading a text and expanding names ended (a signal is negative), and what was said."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps([text, names, daemon]), file=self.process.stdin, flush=True)
        status, said = json.loads(self.process.stdout.readline())
        return status, said

    def close(self) -> None:
        """End the process."""
        self.process.communicate(timeout=60)


def judged(parsers: Parsers, format: str, text: str, meant: Meant | None) -> Verdicts:
    """What is said of one text, asked with its values."""
    (verdicts,) = parsers.judge([Question(format, text, None if meant is None else lambda: meant)])
    return verdicts
