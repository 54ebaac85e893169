"""The far end as a program that is carried to a node, and the command that starts it there."""

import hashlib
import json
import re
import shlex
import zlib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from gitcfg.install.remote.protocol import MARK

LINE, SHELL, NEED, OLD, NO_PYTHON = "line", "shell", "need", "old", "none"
"""Words in the far end's first lines.

A shell runs (printed before sudo), a shell of root runs, Python lacks the program, Python is too old, there
is none. The program itself prints HAVE if it was on the node.
"""

_LOADER = "remote.bootstrap"
_DOCSTRING = re.compile(r'^([ \t]*)"""(?:[^"\\]|"(?!""))*"""$', re.MULTILINE)

# One line for any shell, also csh: no newline, single quote or exclamation mark, and a backslash only before
# a double quote or an n. A link as the program is harmless: its target has the right sum, or is not used.
_BOOT = """
import os,sys
def say(t):os.write(1,("MARK "+t+chr(10)).encode())
if sys.version_info<(3,9):
 for m in range(19,8,-1):
  try:p="python3.%d"%m;os.execvp(p,[p]+open("/proc/self/cmdline","rb").read().split(bytes(1))[1:-1])
  except OSError:0
 sys.exit(say("old %d.%d"%sys.version_info[:2]))
import hashlib,zlib
k,n,r,s=sys.argv[1:]
d=b""
h=lambda:hashlib.sha256(d).hexdigest()==k
try:d=os.read(os.open(r+s+"/far/"+k,os.O_NOFOLLOW|os.O_NONBLOCK),1<<22)
except OSError:0
c=not h()
if c:
 say("need")
 b=b""
 while len(b)<int(n):b+=os.read(0,int(n)-len(b))or sys.exit(1)
 d=zlib.decompress(b)
 h() or sys.exit("damaged")
exec(compile(d.partition(bytes(1))[0],"far","exec",0,True,2))
sys.exit(start(d,k,r,s,c))
"""
# Names of files are UTF-8 in any locale of the login.
_SHELL = (
    f"echo {MARK} {SHELL}; for p in 3 {' '.join(f'3.{minor}' for minor in range(19, 8, -1))}; do "
    f'command -v python$p >/dev/null 2>&1 && exec python$p -X utf8 -IS -c "$@"; done; echo {MARK} {NO_PYTHON}'
)


class Program(NamedTuple):
    """The program. `key` is the SHA-256 of the whole text; `squeezed` is what is carried."""

    text: bytes
    key: str
    squeezed: bytes


@cache
def program() -> Program:
    """Return what runs on nodes: gitcfg's own package `install`, the same bytes on every machine.

    It has no docstrings, and 40 KB are carried.
    """
    modules = sorted(_read_modules(resources.files("gitcfg.install")))
    # Docstrings are found by their form: nothing else in these modules begins a line with three quotes. A
    # test parses all modules, which takes 90 ms instead of 2.
    sources = {name: _DOCSTRING.sub(_replace_docstring, text) for name, text in modules}
    whole = b"\0".join((sources[_LOADER].encode(), json.dumps(sources).encode()))
    return Program(whole, hashlib.sha256(whole).hexdigest(), zlib.compress(whole))


def command(sudo: tuple[str, ...] = (), root: str = "/", state: str = "/var/lib/gitcfg") -> str:
    """Return the command, for any shell of the node; `sudo` is put before what needs root."""
    carried = program()
    boot = _BOOT.strip().replace("MARK", MARK).replace('"', '\\"').replace("\n", "\\n")
    paths = (root.rstrip("/"), "/" + state.strip("/"))
    words = (f'exec("{boot}")', carried.key, str(len(carried.squeezed)), *paths)
    started = shlex.join((*sudo, "/bin/sh", "-c", _SHELL, "sh", *words))
    return f"echo {MARK} {LINE}; {started}" if sudo else started  # output is a packet, 0.1 ms per host


def _read_modules(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a package's modules and subpackages, with `above` as their prefix."""
    for one in folder.iterdir():
        if one.name.endswith(".py"):
            yield above + one.name[:-3], one.read_text("utf-8")
        elif one.joinpath("__init__.py").is_file():
            yield from _read_modules(one, f"{above}{one.name}.")


def _replace_docstring(docstring: re.Match[str]) -> str:
    """Return the same number of lines, with a statement in place of an indented docstring.

    It may be all of a body, unlike that of a module.
    """
    return f"{docstring[1]}{docstring[1] and 0}" + "\n" * docstring[0].count("\n")
