"""Values as text on one line, for the formats that know nothing else."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from gitcfg.compile.lists import join, split
from gitcfg.render.formats.format import Unfit


def scalar(value: Any, true: str, false: str) -> str:
    """A number, boolean or text as text."""
    if isinstance(value, bool):
        return true if value else false
    return value if isinstance(value, str) else repr(value)


def text_of(value: Any, separator: str | None, true: str = "true", false: str = "false") -> str:
    """A value as text; a list by its separator."""
    if isinstance(value, list):
        return join([scalar(item, true, false) for item in value], separator)
    return scalar(value, true, false)


def unfit_value(name: str, value: Any, separator: str | None) -> Iterator[Unfit]:
    """What no format of single lines can carry."""
    if isinstance(value, dict):
        yield Unfit("GC309", (name,), f"{name} is a map.", "Write it to a file of another format.")
    elif isinstance(value, list):
        yield from _items(name, value, separator)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Unfit("GC309", (name,), f"{name} is no finite number.")
    elif isinstance(value, str):
        yield from _line(name, value)


def _line(name: str, text: str) -> Iterator[Unfit]:
    for character, word in (("\n", "a line break"), ("\r", "a carriage return"), ("\0", "a NUL character")):
        if character in text:
            yield Unfit("GC309", (name,), f"the value of {name} holds {word}.")
            return
    if text.endswith("\\"):
        yield Unfit("GC309", (name,), f"the value of {name} ends with a backslash.")


def _items(name: str, items: Sequence[Any], separator: str | None) -> Iterator[Unfit]:
    if any(isinstance(item, dict | list) or item is None for item in items):
        yield Unfit("GC309", (name,), f"{name} holds an item that is no plain value.")
        return
    texts = [scalar(item, "true", "false") for item in items]
    for text in texts:
        yield from _line(name, text)
    if split(join(texts, separator), separator or "comma") != texts:
        odd = next((text for text in texts if split(text, separator or "comma") != [text]), "")
        yield Unfit("GC309", (name,), f"the item {odd!r} of {name} would not be read back as one item.")
