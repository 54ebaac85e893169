"""HTCondor's table after it read a text, written out by HTCondor itself: twenty times quicker than asking for
each value, and enough to see that nothing is read otherwise than it is written.
"""

import ctypes
from collections.abc import Callable
from ctypes import Structure, byref, c_char_p, c_int, c_long, c_size_t, c_void_p
from functools import cache

from gitcfg.parsers.child import htcondor

Table = Callable[[bytes], bytes]

_WITH_META = htcondor.KEEP_DEFAULTS | 1  # what HTCondor writes it out by
_START = 0  # SEEK_SET
_TRIAL = b"GITCFG_A = $(GITCFG_B) x\nUSE_SHARED_PORT = TRUE\nGITCFG_C =\n"
_ANSWER = b"GITCFG_A = $(GITCFG_B) x\nUSE_SHARED_PORT = true\nGITCFG_C = \n"


class _Asked(Structure):
    """The argument of `write_macro_variable`: where to, with what, and the name before."""

    _fields_ = (("file", c_void_p), ("options", c_int), ("last", c_char_p))


_EVEN_DEFAULTS = 1  # of what is in the table, even what is equal to a default


@cache
def table() -> Table | None:
    """What gives HTCondor a text and writes `NAME = VALUE` lines of all that it then has.

    None: HTCondor is not there, or cannot be asked like this. One that takes other arguments may even end
    the process: ask for this once in a process whose end costs nothing.
    """
    if htcondor.htcondor() is None:
        return None
    try:
        written = _table(htcondor.bindings())
    except (OSError, AttributeError):
        return None
    return written if written(_TRIAL) == _ANSWER and written(b"") == b"" else None


def _table(library: ctypes.CDLL) -> Table:
    take, each = htcondor.taker(library, _WITH_META), htcondor.each(library, c_void_p)
    write = ctypes.cast(library["_Z20write_macro_variablePvR8HASHITER"], c_void_p)
    memory = _Memory()

    def written(text: bytes) -> bytes:
        take(text)
        memory.rewind()
        each(htcondor.NO_DEFAULTS, write, byref(_Asked(memory.file, _EVEN_DEFAULTS, None)))
        return memory.content()

    return written


class _Memory:
    """A C stream that writes to memory."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        opened = htcondor.symbol(libc, "open_memstream", c_void_p, c_void_p, c_void_p)
        self._seek = htcondor.symbol(libc, "fseek", c_int, c_void_p, c_long, c_int)
        self._flush = htcondor.symbol(libc, "fflush", c_int, c_void_p)
        self._bytes, self._size = c_void_p(), c_size_t()
        self.file = opened(byref(self._bytes), byref(self._size))
        if not self.file:
            raise OSError("there is no memory for a stream")

    def rewind(self) -> None:
        """Write from the start again."""
        self._seek(self.file, 0, _START)

    def content(self) -> bytes:
        """What was written since."""
        if self._flush(self.file):
            raise MemoryError
        return ctypes.string_at(self._bytes, self._size.value)
