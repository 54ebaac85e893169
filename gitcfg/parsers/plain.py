"""Lines that say what was meant: of a text of such lines only how its parser reads it is left to ask."""

from typing import Any

from gitcfg.parsers.child import condor_text
from gitcfg.parsers.child.flat import means


def plain(format: str, line: str, name: str, value: Any, separator: str | None) -> bool:
    """Is the line's text that value? See `gitcfg.check.judge.Judge`."""
    head = f"{name} ="
    if format != "condor" or not line.startswith(head) or line.find("\n") != len(line) - 1:
        return False
    text = line[len(head) : -1]
    if text and not text.startswith(" "):
        return False
    text = text[1:]
    # What holds macros is looked at for circles, and compared without what HTCondor replaces in it.
    if "$" in text and text != condor_text.text(name, value, {name: separator}):
        return False
    return means(text, value, separator)
