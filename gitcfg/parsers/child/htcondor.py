"""HTCondor's own reader of configuration, in the library below its Python bindings.

The bindings read only a whole configuration: with files that it names, programs that it runs, libraries that
it loads, and facts of the machine; and they expand every value. The function below them reads one file into a
table, which HTCondor then writes out itself: that is twenty times quicker than a call for each value. If the
reader rejects a file, it ends the process.
"""

import ctypes
import os
from collections.abc import Callable
from ctypes import CFUNCTYPE, Structure, byref, c_bool, c_char_p, c_int, c_long, c_size_t, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Reader = Callable[[str], dict[str, str]]

CONFIG = "config"
"""The name of the file that it reads, in the child's own folder."""

MARK = "\0\n"
"""Written to stderr before each text: output before the last mark is of earlier texts."""

KEEP_DEFAULTS = 2  # option of the table: it includes settings that are equal to a default
NO_DEFAULTS = 1  # option of the iteration: only what was set
_TRIAL = "GITCFG_A = $(GITCFG_B) x\n"


@cache
def htcondor() -> Reader | None:
    """Return a function from a text to its raw values by lower-case name.

    Return None if HTCondor is not installed, or this version does not answer as expected.
    """
    try:
        read = _reader(bindings())
    except (OSError, AttributeError):
        return None
    return read if read(_TRIAL) == {"gitcfg_a": "$(GITCFG_B) x"} else None


def installed() -> Path | None:
    """Return the file of the bindings' library, without loading it; None if HTCondor is not installed."""
    spec = find_spec("htcondor2")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return next(
        (file for folder in folders for file in sorted(Path(folder).glob("htcondor2_impl*.so"))), None
    )


def bindings() -> ctypes.CDLL:
    """Return the bindings' module as a plain library, through which the libraries it links are called too."""
    file = installed()
    if file is None:
        raise OSError("HTCondor's bindings are not installed")
    return ctypes.CDLL(str(file))


def symbol(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of a library with this result type and these argument types."""
    function = library[name]
    function.restype, function.argtypes = result, arguments
    return function


def taker(library: ctypes.CDLL, options: int) -> Callable[[bytes], None]:
    """Return a function that sets a text as HTCondor's whole configuration.

    The file stays open and is overwritten: to open and truncate it for each text costs a tenth of the
    parser's time.
    """
    clear = symbol(library, "_Z25clear_global_config_tablev", None)
    begin = symbol(library, "_Z24init_global_config_tablei", None, c_int)
    process = symbol(
        library, "_Z21process_config_sourcePKciS0_S0_i", None, c_char_p, c_int, c_char_p, c_char_p, c_int
    )
    file = os.open(CONFIG, os.O_WRONLY | os.O_CREAT, 0o600)

    def take(text: bytes) -> None:
        if os.pwrite(file, text, 0) < len(text):
            raise OSError("the text could not be written completely")
        os.ftruncate(file, len(text))
        os.write(2, MARK.encode())
        clear()
        begin(options)
        process(CONFIG.encode(), 0, b"file", None, 1)

    return take


def each(library: ctypes.CDLL, visit: Any) -> Any:
    """Return HTCondor's function that iterates over its table and calls a function of this type."""
    return symbol(library, "_Z13foreach_paramiPFbPvR8HASHITERES_", None, c_int, visit, c_void_p)


def _reader(library: ctypes.CDLL) -> Reader:
    visit = CFUNCTYPE(c_bool, c_void_p, c_void_p)
    take, through = taker(library, KEEP_DEFAULTS), each(library, visit)
    key = symbol(library, "_Z13hash_iter_keyR8HASHITER", c_char_p, c_void_p)
    value = symbol(library, "_Z15hash_iter_valueR8HASHITER", c_char_p, c_void_p)

    def read(text: str) -> dict[str, str]:
        found: dict[str, str] = {}

        def see(_: int, item: int) -> bool:
            found[_text(key(item)).lower()] = _text(value(item))
            return True

        take(text.encode())
        through(NO_DEFAULTS, visit(see), None)
        return found

    return read


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "backslashreplace")


# HTCondor's table after it read a text, written out by HTCondor itself.

Table = Callable[[bytes], bytes]

_WITH_META = KEEP_DEFAULTS | 1  # the option that makes HTCondor write it out
_START = 0  # SEEK_SET
_TRIAL_TABLE = b"GITCFG_A = $(GITCFG_B) x\nUSE_SHARED_PORT = TRUE\nGITCFG_C =\n"
_ANSWER = b"GITCFG_A = $(GITCFG_B) x\nUSE_SHARED_PORT = true\nGITCFG_C = \n"


class _WriteArguments(Structure):
    """The argument of `write_macro_variable`: output file, options, and the previous name."""

    _fields_ = (("file", c_void_p), ("options", c_int), ("last", c_char_p))


_EVEN_DEFAULTS = 1  # option of writing: include what is equal to a default


@cache
def table() -> Table | None:
    """Return a function from a text to `NAME = VALUE` lines of all that HTCondor has after reading it.

    Return None if HTCondor is not installed, or does not answer as expected. With a version that takes other
    arguments this may even end the process: call it first in a process that does no other work.
    """
    if htcondor() is None:
        return None
    try:
        written = _table(bindings())
    except (OSError, AttributeError):
        return None
    return written if written(_TRIAL_TABLE) == _ANSWER and written(b"") == b"" else None


def _table(library: ctypes.CDLL) -> Table:
    take, visit_all = taker(library, _WITH_META), each(library, c_void_p)
    write = ctypes.cast(library["_Z20write_macro_variablePvR8HASHITER"], c_void_p)
    memory = _Memory()

    def written(text: bytes) -> bytes:
        take(text)
        memory.rewind()
        visit_all(NO_DEFAULTS, write, byref(_WriteArguments(memory.file, _EVEN_DEFAULTS, None)))
        return memory.content()

    return written


class _Memory:
    """A C stream that writes to memory."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        opened = symbol(libc, "open_memstream", c_void_p, c_void_p, c_void_p)
        self._seek = symbol(libc, "fseek", c_int, c_void_p, c_long, c_int)
        self._flush = symbol(libc, "fflush", c_int, c_void_p)
        self._bytes, self._size = c_void_p(), c_size_t()
        self.file = opened(byref(self._bytes), byref(self._size))
        if not self.file:
            raise OSError("there is not enough memory for a stream")

    def rewind(self) -> None:
        """Write from the start again."""
        self._seek(self.file, 0, _START)

    def content(self) -> bytes:
        """Return what was written since the last `rewind`."""
        if self._flush(self.file):
            raise MemoryError
        return ctypes.string_at(self._bytes, self._size.value)
