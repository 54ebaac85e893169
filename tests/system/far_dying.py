"""The python3 of a node whose far end dies: before the thing that HOME/dies-at has the number of.

    far_dying.py HOME OPTION... -c CODE WORD...

Each thing (a change of the disk, a message, a process that is started) is a line of HOME/did.
"""

import functools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

HOME = sys.argv[1]
MODULES = {"gitcfg_far.disk": ("Disk", ()), "gitcfg_far.remote.protocol": ("FarLine", ("_write",))}
PROCESSES = ("os.fork", "subprocess.Popen")


def due(name: str) -> None:
    """One thing more."""
    with open(f"{HOME}/did", "a+") as did:
        did.seek(0)
        number = len(did.readlines())
        if number == AT:
            os.kill(os.getpid(), signal.SIGKILL)
        did.write(f"{name}\n")


def counted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is one of the things."""

    @functools.wraps(work)
    def instead(*words: Any) -> Any:
        due(name)
        return work(*words)

    return instead


def heard(event: str, words: tuple[Any, ...]) -> None:
    """Python tells what it does; as soon as the far end's own classes are there, they tell, too."""
    for module, (name, methods) in list(MODULES.items()):
        found = getattr(sys.modules.get(module), name, None)
        if found is not None:
            del MODULES[module]
            for method in methods or found.changing:
                setattr(found, method, counted(method, getattr(found, method)))
    if event in PROCESSES:
        due(event)


with open(f"{HOME}/dies-at") as said:
    AT = int(said.read())
FIRST = sys.argv.index("-c")
code, sys.argv = sys.argv[FIRST + 1], ["-c", *sys.argv[FIRST + 2 :]]
sys.addaudithook(heard)
exec(code, {"__name__": "__main__"})
