"""No core is dumped of a program that has secrets in memory; what it starts may still dump its own."""

from __future__ import annotations

from contextlib import suppress

_before: list[tuple[int, int]] = []


def forbid() -> None:
    """From now on no core of this process is dumped."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if not _before:
        _before.append((soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def let(process: int) -> None:
    """A process of somebody else's program gets the limit that this one began with."""
    if _before:
        import resource

        with suppress(OSError):
            resource.prlimit(process, resource.RLIMIT_CORE, _before[0])
