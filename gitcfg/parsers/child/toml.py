"""TOML 1.0, by Python's own parser."""

import re
import tomllib
from collections.abc import Iterator

from gitcfg.parsers.child.nested import differences
from gitcfg.parsers.child.said import Meant, Said

_LINE = re.compile(r" \(at line (\d+), column \d+\)\Z")


def judge(text: str, meant: Meant | None) -> Iterator[Said]:
    """What is wrong with a text."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        where = f" at line {place[1]}" if place else ""
        yield Said(f"is no TOML{where}: {_LINE.sub('', str(error))}", int(place[1]) if place else 0)
    except RecursionError:
        yield Said("nests too deep to be read")
    else:
        if meant is not None:
            yield from differences(found, meant.values)
