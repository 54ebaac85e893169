"""What expressions are made of: environments with their types, variables and functions."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, TypeAlias

from cel_expr_python import cel

from gitcfg.cel.functions import FUNCTIONS, Function

Variables: TypeAlias = tuple[tuple[str, str], ...]

_MAP = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
_TYPES = {
    "string": cel.Type.STRING,
    "list(string)": cel.Type.List(cel.Type.STRING),
    "map": _MAP,
    "list(map)": cel.Type.List(_MAP),
    "bool": cel.Type.BOOL,
    "int": cel.Type.INT,
    "timestamp": cel.Type.TIMESTAMP,
    "duration": cel.Type.DURATION,
}

_BOUNDED = (
    *("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_", "_?_:_", "_[_]", "@in"),
    *("-_", "_-_", "_*_", "_/_", "_%_", "size", "startsWith", "endsWith", "contains"),
    *("int", "double", "dyn", "type", "timestamp", "duration"),
)
"""What takes no longer than reading its values once and makes nothing large; as do our own functions."""

_EXTENSIONS = ("strings", "sets", "lists", "math")
"""Sets are compared each with each, and texts are made larger: none of it is bounded."""

_ZONED = {
    "getDate": "day_of_month_1_based_with_tz",
    "getDayOfMonth": "day_of_month_with_tz",
    "getDayOfWeek": "day_of_week_with_tz",
    "getDayOfYear": "day_of_year_with_tz",
    "getFullYear": "year_with_tz",
    "getHours": "hours_with_tz",
    "getMilliseconds": "milliseconds_with_tz",
    "getMinutes": "minutes_with_tz",
    "getMonth": "month_with_tz",
    "getSeconds": "seconds_tz",
}
"""With a time zone's name these open that name as a file of the machine."""


@lru_cache(maxsize=64)
def environment(variables: Variables, now: datetime | None, *, bounded: bool) -> Any:
    """One that knows these variables. `bounded` has no loops, no `+`, no regular expressions, no extensions:
    any expression of it is cheap. With `now` it knows age(TIMESTAMP).
    """
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_only(_BOUNDED) if bounded else _without(_ZONED.items())),
        variables={name: _TYPES[kind] for name, kind in variables},
        functions=[*_own(), *([] if now is None else [_declared(_age(now))])],
    )


@cache
def _own() -> list[Any]:
    return [_declared(function) for function in FUNCTIONS]


def _age(now: datetime) -> Function:
    """age(TIMESTAMP): how long ago that is."""
    return Function("age", ("timestamp",), "duration", lambda then: now - then)


def _declared(function: Function) -> Any:
    overload = cel.Overload(
        id=f"{function.name}_{'_'.join(function.parameters)}",
        return_type=_TYPES[function.gives],
        parameters=[_TYPES[kind] for kind in function.parameters],
        impl=function.call,
    )
    return cel.FunctionDecl(function.name, [overload])


def _only(functions: Iterable[str]) -> str:
    listed = "".join(f'    - name: "{name}"\n' for name in functions)
    return f"stdlib:\n  include_macros: [has]\n  include_functions:\n{listed}"


def _without(overloads: Iterable[tuple[str, str]]) -> str:
    listed = "".join(
        f"    - name: {name}\n      overloads: [{{id: timestamp_to_{overload}}}]\n"
        for name, overload in overloads
    )
    extensions = "".join(f"  - name: {name}\n" for name in _EXTENSIONS)
    return f"extensions:\n{extensions}stdlib:\n  exclude_functions:\n{listed}"
