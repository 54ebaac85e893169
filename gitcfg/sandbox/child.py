"""The child's side of a guard: confine this process, then answer requests until the guard is gone."""

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from gitcfg.sandbox.protocol import OUT_OF_MEMORY, Limits, read_frame, write_frame

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def serve(handler: Callable[[Any], Any]) -> None:
    """Answer each request with the result of `handler`; both are plain data.

    An exception of the handler ends the process, and the guard reports it.
    """
    _run(partial(_answer, handler))


def serve_many(handler: Callable[[Any], Any]) -> None:
    """Answer lists of requests with lists of answers; with `serve`, the transfer of small requests dominates.

    Each request has the whole limit of processor time; the guard finds out which one ended the process.
    """
    _run(partial(_answers, handler))


def allow(seconds: float) -> None:
    """Give this many seconds of processor time to the present request, instead of the limit's."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _run(answer: Callable[[bytes, float], bytes]) -> None:
    """Confine this process as set in the first message, and answer the others."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    line = _take_line()
    limits = read_frame(line)
    if limits is None:
        return
    cpu_seconds = _confine(libc, msgspec.msgpack.decode(limits, type=Limits))
    while (request := read_frame(line)) is not None:
        write_frame(line, answer(request, cpu_seconds))


def _answers(handler: Callable[[Any], Any], requests: bytes, cpu_seconds: float) -> bytes:
    raw = msgspec.msgpack.decode(requests, type=list[msgspec.Raw])
    return msgspec.msgpack.encode([msgspec.Raw(_answer(handler, bytes(one), cpu_seconds)) for one in raw])


def _answer(handler: Callable[[Any], Any], request: bytes, cpu_seconds: float) -> bytes:
    """Answer one request within a limit of processor time, which does not depend on the load.

    SIGPROF's default action ends the process even in the middle of C code.
    """
    allow(cpu_seconds)
    try:
        return msgspec.msgpack.encode(handler(msgspec.msgpack.decode(request)))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _take_line() -> int:
    """Protect the guard's line from libraries that read stdin or print to stdout."""
    line = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return line


def _confine(libc: ctypes.CDLL, limits: Limits) -> float:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # An empty network namespace. Kernels and containers may refuse this; then only the handler's own care (a
    # sandbox, checks before parsing) protects the network from a request.
    libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits.file)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_NPROC, limits.processes)
    _limit(resource.RLIMIT_AS, limits.memory)
    return limits.cpu_seconds


def _limit(kind: int, most: int) -> None:
    """Lower both limits, unless they are already lower."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
