"""Why a child ended, from its status and its last words."""

import signal

from gitcfg.sandbox.child import OUT_OF_MEMORY
from gitcfg.sandbox.limits import GuardError, Killed, Limits, OutOfMemory, TimeUp, size_in_words


def epitaph(status: int | None, stderr: str, limits: Limits) -> GuardError:
    """What is said of it; a status of None: it has not ended yet."""
    if status == -signal.SIGPROF:
        return TimeUp(f"took longer than {limits.cpu_seconds:g} s of processor time", stderr)
    if status == OUT_OF_MEMORY or "bad_alloc" in stderr or "MemoryError" in stderr:
        return OutOfMemory(f"used more than {size_in_words(limits.memory)} of memory", stderr)
    if status is None:
        return GuardError("stopped answering", stderr)
    if status < 0:
        kind = Killed if status == -signal.SIGKILL else GuardError
        return kind(f"ended by {signal.Signals(-status).name}", stderr)
    last = stderr.strip().rpartition("\n")[2][:300]
    return GuardError(f"ended with status {status}" + (f": {last}" if last else ""), stderr)
