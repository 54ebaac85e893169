"""What exit codes say."""

from collections.abc import Mapping

FAULT = 70
INTERRUPTED = 130
CLOSED_PIPE = 141

EXITS: Mapping[int, str] = {
    0: "Done; nothing is wrong, nothing differs.",
    1: 'A true answer that is "no": errors are found, nodes change (with `--exit-code`), nothing is found.',
    2: "Wrong usage: what is asked for does not exist, or cannot be read.",
    4: "Refused: something is in the way, and stays as it was.",
    5: "Time ran out.",
    FAULT: "A fault of gitcfg's own; a report is written.",
    INTERRUPTED: "Interrupted.",
    CLOSED_PIPE: "Whoever reads the output has left, a pager too.",
}
