"""The start of the carried program on a node: its modules, from one text or from saved compiled code.

This source is at the beginning of the program and runs before its other modules, so it imports none of them.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

PACKAGE, FOLDER = "gitcfg_far", "far"
_INNER = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class Modules:
    """A loader of the program's modules. Without `codes` it compiles them: 40 ms more at each start."""

    def __init__(self, sources: bytes, codes: dict[str, bytes]) -> None:
        self._sources = sources
        self._codes = codes

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the module of a name, if it is one of the program's."""
        own = self._own_name(name)
        if not own:
            return None
        kind: Any = type(sys.__spec__)  # the class of importlib.machinery, without its imports
        spec: ModuleSpec = kind(name, self, is_package=own.endswith("__init__"))
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python create the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module."""
        exec(self._code(self._own_name(module.__name__)), module.__dict__)

    def compiled(self) -> bytes:
        """Return all modules compiled, to be saved."""
        return marshal.dumps({name: marshal.dumps(self._code(name)) for name in sorted(self._known())})

    def _known(self) -> dict[str, Any]:
        if not self._codes and self._sources:
            import json

            sources = json.loads(self._sources)
            self._codes = {name: _compile(name, text) for name, text in sources.items()}
        return self._codes

    def _code(self, name: str) -> CodeType:
        code: CodeType = marshal.loads(self._known()[name])
        return code

    def _own_name(self, name: str) -> str:
        """Return a module's name in the program, with `__init__` if it is a package; "" if it has none."""
        top, _, inner = name.partition(".")
        if top != PACKAGE:
            return ""
        names = (inner, f"{inner}.__init__" if inner else "__init__")
        return next((one for one in names if one in self._known()), "")


def _compile(name: str, text: str) -> bytes:
    file = f"{PACKAGE}/{name.replace('.', '/')}.py"
    return marshal.dumps(compile(text, file, "exec", 0, True, 2))


def version() -> bytes:
    """Return a text that differs between versions of Python, since compiled code does too."""
    return f"{sys.implementation.cache_tag} {sys.version} {sys.byteorder}\n".encode()


def seal(body: bytes) -> bytes:
    """Return compiled code as it is saved: with a checksum of the code and of its version of Python."""
    return hashlib.sha256(version() + body).digest() + body


def load_codes(root: str, state: str, key: str) -> dict[str, bytes]:
    """Return the saved compiled code of this very program; empty if it is damaged or not root's alone.

    A user who could write there could write anything here: neither the folder nor those above it may be
    links.
    """
    opened = []
    try:
        opened.append(os.open(root or "/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for name in [*state.strip("/").split("/"), FOLDER]:
            opened.append(os.open(name, _INNER | os.O_DIRECTORY, dir_fd=opened[-1]))
        opened.append(os.open(f"{key}.code", _INNER | os.O_NONBLOCK, dir_fd=opened[-1]))
        if not (_is_own(opened[-2], stat.S_IFDIR) and _is_own(opened[-1], stat.S_IFREG)):
            return {}
        with open(opened[-1], "rb", closefd=False) as file:
            raw = file.read(1 << 24)
        return marshal.loads(raw[32:]) if seal(raw[32:])[:32] == raw[:32] else {}
    except OSError:
        return {}
    finally:
        for one in opened:
            os.close(one)


def _is_own(file: int, kind: int) -> bool:
    found = os.fstat(file)
    return (
        stat.S_IFMT(found.st_mode) == kind
        and found.st_uid == os.geteuid()
        and not stat.S_IMODE(found.st_mode) & 0o077
    )


def start(program: bytes, key: str, root: str, state: str, carried: bool) -> int:
    """Run the program, and return its exit code; `key` is its SHA-256, which the caller has checked."""
    codes = load_codes(root, state, key)
    modules = Modules(program.partition(b"\0")[2], codes)
    sys.meta_path.insert(0, modules)
    compiled = modules.compiled if carried or not codes else None
    first = f"{PACKAGE}.remote.session"
    __import__(first)
    code: int = sys.modules[first].main(root, state, program, key, compiled, carried)
    return code
