"""JSON, by Python's own parser."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from gitcfg.parsers.child.nested import Strange, differences, once
from gitcfg.parsers.child.said import Meant, Said


def judge(text: str, meant: Meant | None) -> Iterator[Said]:
    """What is wrong with a text."""
    try:
        found = _read(text, meant)
    except json.JSONDecodeError as error:
        yield Said(f"is no JSON at line {error.lineno}, column {error.colno}: {error.msg}", error.lineno)
    except Strange as error:
        yield Said(f"is not what gitcfg writes: {error}")
    except ValueError as error:
        yield Said(f"is no JSON: {error}")
    except RecursionError:
        yield Said("nests too deep to be read")
    else:
        if meant is not None:
            yield from differences(found, meant.values)


def _read(text: str, meant: Meant | None) -> Any:
    return json.loads(text, object_pairs_hook=once if meant else None, parse_constant=_no_number)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number there")
