"""Settings that mention themselves: HTCondor puts what was there in as soon as it reads them."""

from collections.abc import Iterator

import msgspec

from gitcfg.compile.classad import Macro, macros
from gitcfg.convert.condor.lines import Line
from gitcfg.convert.condor.sources import import_error

MAX_VALUE = 64 << 10


class Addition(msgspec.Struct, frozen=True):
    """What one setting says: a whole value, or text before or after what was there."""

    before: str | None
    after: str | None
    whole: str


def find_own_macros(name: str, value: str) -> list[Macro]:
    """The macros in a value that stand for the setting as it was."""
    if "$" not in value:
        return []
    key = name.lower()
    return [macro for macro in macros(value) if macro.function == "$" and macro.body.lower() == key]


def apply_value(name: str, value: str, before: str | None, line: Line) -> str:
    """The value that HTCondor has then. Nothing before: what HTCondor has by itself stays a macro.

    GitcfgError: it grows beyond all measure.
    """
    own = find_own_macros(name, value) if before is not None else []
    if len(value) + len(own) * len(before or "") > MAX_VALUE:
        raise import_error(
            line.file, line.number, f"The value of {name} grows to more than {MAX_VALUE} characters."
        )
    return "".join(_replace_macros(value, own, before or "")) if own else value


def _replace_macros(value: str, own: list[Macro], before: str) -> Iterator[str]:
    at = 0
    for macro in own:
        yield value[at : macro.start]
        yield before or macro.default
        at = macro.end
    yield value[at:]


def split_addition(name: str, value: str) -> Addition:
    """What a setting adds, if it is of the form `$(NAME) more` or `more $(NAME)`."""
    own = find_own_macros(name, value)
    if len(own) == 1 and not own[0].default:
        if own[0].start == 0 and value[own[0].end :]:
            return Addition(None, value[own[0].end :], value)
        if own[0].end == len(value) and value[: own[0].start]:
            return Addition(value[: own[0].start], None, value)
    return Addition(None, None, value)
