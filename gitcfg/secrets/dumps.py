"""What this program holds in memory stays there when it dies."""

import resource


def forbid_core_dumps() -> None:
    """No core is dumped of this process, nor of those it starts."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
