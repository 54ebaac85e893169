"""What an `if` of HTCondor's says, as far as that is certain on every machine."""

import re
from collections.abc import Container, Iterator, Mapping

_DEFINED = re.compile(r"defined\s+([A-Za-z_][A-Za-z0-9_.]*)", re.IGNORECASE | re.ASCII)
_MACRO = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.]*)\)")
_NAMED = re.compile(r"\$\w*\(([A-Za-z_][A-Za-z0-9_.]*)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_WORDS = {"true": True, "false": False}


def evaluate_condition(
    text: str, values: Mapping[str, str], unsure: Container[str], known: Container[str] | None
) -> bool | None:
    """Does a condition hold? None: that depends on the machine, or is not known here.

    `values` are the settings so far, `known` the names that HTCondor has by itself, all in lower case.
    """
    if text.startswith("!"):
        held = evaluate_condition(text[1:].strip(), values, unsure, known)
        return None if held is None else not held
    defined, macro = _DEFINED.fullmatch(text), _MACRO.fullmatch(text)
    if defined is not None:
        return _evaluate_defined(defined[1].lower(), values, unsure, known)
    if macro is not None and macro[1].lower() not in unsure:
        return _evaluate_literal(values.get(macro[1].lower(), ""))
    return _evaluate_literal(text)


def _evaluate_defined(
    name: str, values: Mapping[str, str], unsure: Container[str], known: Container[str] | None
) -> bool | None:
    if name in unsure:
        return None
    if name in values:
        return True if values[name] and "$" not in values[name] else None
    return False if known is not None and name not in known else None


def _evaluate_literal(text: str) -> bool | None:
    if _NUMBER.fullmatch(text):
        return int(text) != 0
    return _WORDS.get(text.lower())


def find_condition_names(text: str) -> Iterator[str]:
    """The names that a condition looks at, in lower case."""
    for found in (*_DEFINED.finditer(text), *_NAMED.finditer(text)):
        yield found[1].lower()
