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
    0: "Success: nothing is wrong, nothing differs.",
    1: "The answer is no: there are errors, nodes change (with `--exit-code`), or nothing was found.",
    2: "Wrong usage: an argument is invalid, does not exist, or cannot be read.",
    SOME_FAILED: "Some nodes failed or were left unchanged: an installation failed, or a release is halted.",
    4: "Refused: something is in the way, and gitcfg left it unchanged.",
    TIME_RAN_OUT: "The time limit was reached.",
    FAULT: "Internal error in gitcfg. A report is written.",
    HUNG_UP: "The terminal was closed (SIGHUP).",
    INTERRUPTED: "Interrupted with Ctrl-C (SIGINT).",
    CLOSED_PIPE: "The reader of the output, such as a pager, closed it.",
    TERMINATED: "Terminated (SIGTERM).",
}
