"""The only place that imports cel_expr_python: environments, compiled expressions, and their answers."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from cel_expr_python import cel

from gitcfg.cel.problem import CelProblem
from gitcfg.cel.variables import plain
from gitcfg.cel.words import not_a_condition, why_it_failed, why_it_is_wrong

Variables: TypeAlias = tuple[tuple[str, str], ...]

_TYPES = {
    "string": cel.Type.STRING,
    "list(string)": cel.Type.List(cel.Type.STRING),
    "map": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
    "bool": cel.Type.BOOL,
    "int": cel.Type.INT,
    "timestamp": cel.Type.TIMESTAMP,
}

_BOUNDED = (
    *("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_", "_?_:_", "_[_]", "@in"),
    *("-_", "_-_", "_*_", "_/_", "_%_", "size", "startsWith", "endsWith", "contains"),
    *("int", "double", "dyn", "type", "timestamp", "duration"),
)
"""What takes no longer than reading its values once and makes nothing large."""

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


def compile_text(text: str, variables: Variables, now: datetime | None = None, *, bounded: bool) -> Any:
    """The compiled expression; CelProblem if it is wrong or cannot be a condition.

    `bounded` knows no loops, no `+` and no regular expressions: any expression of it is cheap. With `now`
    it knows age(TIMESTAMP).
    """
    try:
        expression = _environment(variables, bounded, now).compile(text)
    except RuntimeError as error:
        raise why_it_is_wrong(str(error), text, [name for name, _ in variables]) from None
    kind = expression.return_type()
    if kind not in (cel.Type.BOOL, cel.Type.DYN):
        raise not_a_condition(str(kind))
    return expression


def names_read(
    text: str, variables: Variables, now: datetime | None = None, *, bounded: bool
) -> frozenset[str]:
    """The variables without which the expression would not compile."""
    return frozenset(
        name
        for name, kind in variables
        if all(part in text for part in name.split("."))
        and not _compiles(text, tuple(v for v in variables if v != (name, kind)), bounded, now)
    )


def evaluate(expression: Any, text: str, values: Mapping[str, Any]) -> bool | CelProblem:
    """Does the condition hold? Never CEL's own answer: an error of it is true in Python."""
    answer = _answer(expression, values)
    if answer is not True and answer is not False:
        answer = _answer(expression, plain(values))
    if answer is True or answer is False:
        return answer
    return why_it_failed(str(answer), text)


def _answer(expression: Any, values: Mapping[str, Any]) -> object:
    """True, False, or what it is instead."""
    try:
        value = expression.eval(data=values)
    except RuntimeError as error:
        return str(error)
    if value.type() in (cel.Type.BOOL, cel.Type.ERROR):
        return value.value()
    return not_a_condition(str(value.type())).message


def _compiles(text: str, variables: Variables, bounded: bool, now: datetime | None) -> bool:
    try:
        _environment(variables, bounded, now).compile(text)
    except RuntimeError:
        return False
    return True


@lru_cache(maxsize=64)
def _environment(variables: Variables, bounded: bool, now: datetime | None) -> Any:
    config = cel.NewEnvConfigFromYaml(_only(_BOUNDED) if bounded else _without(_ZONED.items()))
    known = {name: _TYPES[kind] for name, kind in variables}
    return cel.NewEnv(config=config, variables=known, functions=[] if now is None else [_age(now)])


def _age(now: datetime) -> Any:
    """age(TIMESTAMP): how long ago that is."""
    overload = cel.Overload(
        id="age_timestamp",
        return_type=cel.Type.DURATION,
        parameters=[cel.Type.TIMESTAMP],
        impl=lambda then: now - then,
    )
    return cel.FunctionDecl("age", [overload])


def _only(functions: Iterable[str]) -> str:
    listed = "".join(f'    - name: "{name}"\n' for name in functions)
    return f"stdlib:\n  include_macros: [has]\n  include_functions:\n{listed}"


def _without(overloads: Iterable[tuple[str, str]]) -> str:
    listed = "".join(
        f"    - name: {name}\n      overloads: [{{id: timestamp_to_{overload}}}]\n"
        for name, overload in overloads
    )
    return f"stdlib:\n  exclude_functions:\n{listed}"
