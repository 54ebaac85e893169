"""Whether to colour: `--color` beats NO_COLOR beats FORCE_COLOR beats "is it a terminal"."""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Color(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def coloured(color: Color, environ: Mapping[str, str], terminal: bool) -> bool:
    """Is what is written to a terminal, or to something else, to be coloured?"""
    if color is not Color.AUTO:
        return color is Color.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (terminal and capable(environ))


def capable(environ: Mapping[str, str]) -> bool:
    """Does the terminal, if there is one, understand more than text?"""
    return environ.get("TERM", "") not in ("dumb", "unknown")


def asked(arguments: Sequence[str], environ: Mapping[str, str]) -> Color:
    """What a command line that may be wrong says of colour: also what is wrong with it is told so."""
    said = [environ.get("GITCFG_COLOR", "")]
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == "--color":
            said.append(following)
        elif word.startswith("--color="):
            said.append(word.partition("=")[2])
    return next((Color(word) for word in reversed(said) if word in set(Color)), Color.AUTO)
