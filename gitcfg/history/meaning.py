"""What definitions say, wherever it is written: to be compared across commits."""

from functools import cache
from typing import Any

import msgspec

from gitcfg.model import Op

_PLACES = frozenset({"origin", "at", "schema_origin", "place", "until_at", "decided"})
_PLAIN = frozenset({str, int, float, bool, type(None)})


def meaning(value: Any) -> Any:
    """A definition, or a part of one, as plain tuples without any places; maps in order of their keys."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, msgspec.Struct):
        return tuple([meaning(getattr(value, field)) for field in _placeless(value.__struct_fields__)])
    if isinstance(value, dict):
        return tuple([(key, meaning(value[key])) for key in sorted(value)])
    if isinstance(value, list | tuple):
        return tuple([meaning(item) for item in value])
    return value.value if isinstance(value, Op) else value


@cache
def _placeless(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field for field in fields if field not in _PLACES)


def said(value: Any) -> str:
    """Equal for what says the same; unlike values, texts tell 1 from 1.0 and from true."""
    return repr(meaning(value))
