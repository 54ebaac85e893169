"""Expressions compiled and evaluated in this process."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cel_expr_python import cel

from gitcfg.cel.environment import Variables, environment
from gitcfg.cel.errors import CelProblem
from gitcfg.cel.messages import not_a_condition, not_a_key, why_it_failed, why_it_is_wrong
from gitcfg.cel.terms import referred
from gitcfg.cel.variables import plain

_SIMPLE = (cel.Type.STRING, cel.Type.INT, cel.Type.BOOL, cel.Type.DOUBLE)
_KEYS = (*_SIMPLE, cel.Type.DYN, cel.Type.LIST, *(cel.Type.List(kind) for kind in _SIMPLE))
_LONGEST_KEY = 1_000


def compile_text(
    text: str, variables: Variables, now: datetime | None = None, *, bounded: bool, key: bool = False
) -> Any:
    """The compiled expression; CelProblem if it is wrong or cannot be a condition, or a key."""
    try:
        expression = environment(variables, now, bounded=bounded).compile(text)
    except RuntimeError as error:
        raise why_it_is_wrong(str(error), text, [name for name, _ in variables]) from None
    kind = expression.return_type()
    if key and kind not in _KEYS:
        raise not_a_key(str(kind))
    if not key and kind not in (cel.Type.BOOL, cel.Type.DYN):
        raise not_a_condition(str(kind))
    return expression


def names_read(
    checked: bytes, text: str, variables: Variables, now: datetime | None = None, *, bounded: bool
) -> frozenset[str]:
    """The variables without which an expression would not compile, by its serialized form.

    What a loop calls its own is taken for the variable of that name: only those in one word can be hidden so.
    """

    def without(name: str) -> Variables:
        return tuple(variable for variable in variables if variable[0] != name)

    return frozenset(
        name
        for name in referred(checked, [name for name, _ in variables])
        if "." in name or not _compiles(text, without(name), bounded, now)
    )


def truth(expression: Any, text: str, values: Mapping[str, Any]) -> bool | CelProblem:
    """Does the condition hold? Never CEL's own answer: an error of it is true in Python."""
    answer = _truth(expression, values)
    if answer is not True and answer is not False:
        answer = _truth(expression, plain(values))
    if answer is True or answer is False:
        return answer
    return answer if isinstance(answer, CelProblem) else why_it_failed(answer, text)


def key_of(expression: Any, text: str, values: Mapping[str, Any]) -> Any:
    """What makes the key of some values, of a list a tuple; or a problem."""
    answer = _key(expression, values)
    if isinstance(answer, _Failed | CelProblem):
        answer = _key(expression, plain(values))
    return why_it_failed(answer.args[0], text) if isinstance(answer, _Failed) else answer


class _Failed(Exception):
    """What CEL says of an evaluation that came to nothing: beside it, any text is a key."""


def _truth(expression: Any, values: Mapping[str, Any]) -> Any:
    """True, False, or what it is instead: a problem, or what CEL says."""
    try:
        value = expression.eval(data=values)
    except RuntimeError as error:
        return str(error)
    answer = value.value()
    if answer is True or answer is False or value.type() == cel.Type.ERROR:
        return answer
    return not_a_condition(str(value.type()))


def _key(expression: Any, values: Mapping[str, Any]) -> Any:
    try:
        value = expression.eval(data=values)
    except RuntimeError as error:
        return _Failed(str(error))
    kind = value.type()
    if kind == cel.Type.ERROR:
        return _Failed(str(value.value()))
    if kind == cel.Type.LIST:
        return _list(value.plain_value())
    return _single(value.value()) if kind in _SIMPLE else not_a_key(str(kind))


def _list(items: list[Any]) -> Any:
    if len(items) + sum(len(item) for item in items if isinstance(item, str)) > _LONGEST_KEY:
        return _too_long()
    wrong = next((item for item in map(_single, items) if isinstance(item, CelProblem)), None)
    return tuple(items) if wrong is None else wrong


def _single(item: Any) -> Any:
    """A key of one part, or what is wrong with it."""
    if not isinstance(item, str | int | float):
        return not_a_key("a list of other things")
    if item != item:
        return CelProblem("the result is not a number, which is equal to nothing")
    return _too_long() if isinstance(item, str) and len(item) > _LONGEST_KEY else item


def _too_long() -> CelProblem:
    return CelProblem(f"the result is longer than {_LONGEST_KEY:,} characters, too long for a key")


def _compiles(text: str, variables: Variables, bounded: bool, now: datetime | None) -> bool:
    try:
        environment(variables, now, bounded=bounded).compile(text)
    except RuntimeError:
        return False
    return True
