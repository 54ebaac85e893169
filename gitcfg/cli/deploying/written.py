"""Lines of JSON, one for each node as soon as it is done with."""

import sys
from collections.abc import Callable

import msgspec

from gitcfg.cli.deploying.following import Quiet
from gitcfg.cli.deploying.records import About, line
from gitcfg.deploy.outcomes import Result

_GONE = "Whoever read the lines of JSON has left."
_WRITTEN = "The lines of JSON cannot be written: {}."


class Written(Quiet):
    """Writes them, unless there is nothing that they are about.

    Whoever reads them may leave, and a disk may be full: `fault` says it. Then `left` is told why, once:
    nobody else is begun, and those at work finish.
    """

    def __init__(self, about: About | None) -> None:
        self._about = about
        self.fault: OSError | None = None
        self.left: Callable[[str], None] = lambda because: None

    def ended(self, result: Result) -> None:
        """A node is done with."""
        if self._about is None or self.fault is not None:
            return
        try:
            sys.stdout.buffer.write(msgspec.json.encode(line(self._about, result)) + b"\n")
            sys.stdout.flush()
        except OSError as error:
            self.fault = error
            self.left(_GONE if isinstance(error, BrokenPipeError) else _WRITTEN.format(error.strerror))
