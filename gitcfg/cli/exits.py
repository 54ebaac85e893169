"""The exit codes of all commands."""

from collections.abc import Mapping

SOME_FAILED = 3
TIME_RAN_OUT = 5
FAULT = 70
HUNG_UP = 129
INTERRUPTED = 130
CLOSED_PIPE = 141
TERMINATED = 143

EXITS: Mapping[int, str] = {
    0: "Done; nothing is wrong, nothing differs.",
    1: 'A true answer that is "no": errors are found, nodes change (with `--exit-code`), nothing is found.',
    2: "Wrong usage: what is asked for does not exist, or cannot be read.",
    SOME_FAILED: "Nodes failed, or stay as they were: an installation went wrong, a release is halted.",
    4: "Refused: something is in the way, and stays as it was.",
    TIME_RAN_OUT: "Time ran out.",
    FAULT: "A fault of gitcfg's own; a report is written.",
    HUNG_UP: "Its terminal is gone (SIGHUP).",
    INTERRUPTED: "Interrupted.",
    CLOSED_PIPE: "Whoever reads the output has left, a pager too.",
    TERMINATED: "It was told to end (SIGTERM).",
}
