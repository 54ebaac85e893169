"""INI files, by Python's own parser; what stands before the first section has none in its name."""

import configparser
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper

from gitcfg.parsers.child.flat import means
from gitcfg.parsers.child.said import Meant, Said, left_out, not_meant, otherwise

_FIRST = "first section"  # no section's name has a blank
_HEAD = f"[{_FIRST}]\n".encode()


def judge(text: str, meant: Meant | None) -> Iterator[Said]:
    """What is wrong with a text."""
    try:
        found = _read(text)
    except configparser.Error as error:
        line = getattr(error, "lineno", None) or next(iter(getattr(error, "errors", ())), [1])[0]
        said = " ".join(str(error).partition("\n")[0].split())
        yield Said(f"is no INI file at line {max(line - 1, 1)}: {said}", max(line - 1, 1))
    else:
        if meant is not None:
            yield from _differences(found, meant)


def _read(text: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=True, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    # As a file is read: any of the three line ends is one.
    parser.read_file(TextIOWrapper(BytesIO(_HEAD + text.encode()), encoding="utf-8"))
    sections = {"DEFAULT": parser.defaults(), **{name: parser[name] for name in parser.sections()}}
    return {
        key if section == _FIRST else f"{section}.{key}": value
        for section, found in sections.items()
        for key, value in found.items()
    }


def _differences(found: dict[str, str], meant: Meant) -> Iterator[Said]:
    for name, value in meant.values.items():
        read = found.pop(name, None)
        if read is None:
            yield left_out(name)
        elif not means(read, value, meant.separators.get(name)):
            yield otherwise(name, read, value)
    yield from map(not_meant, found)
