"""The CEL engine: gitcfg's functions, environments, errors in words, compilation and evaluation.

No other module imports the library, which takes a while: expressions are declared without it.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from cel_expr_python import cel

from gitcfg.cel.errors import CelProblem, sentence
from gitcfg.cel.terms import referred
from gitcfg.cel.variables import plain

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network


# The functions that gitcfg adds to expressions: IP addresses and networks.

_LONGEST = 100
"""The library takes as long as a text is, and repeats it in what it says."""

_Address: TypeAlias = "IPv4Address | IPv6Address"
_Network: TypeAlias = "IPv4Network | IPv6Network"


class Function(msgspec.Struct, frozen=True):
    """Its types are words as those of variables. A ValueError becomes CEL's error on that node."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    call: Callable[..., Any]


def in_net(address: str, net: str) -> bool:
    """Return whether an address is in a network; not if one is IPv4 and the other IPv6."""
    return _address(address) in _network(net)


def net_of(address: str, prefix_length: int) -> str:
    """Return the network of an address."""
    found = _address(address)
    if not 0 <= prefix_length <= found.max_prefixlen:
        raise ValueError(f"{prefix_length} is no length of a prefix of {found}")
    return str(_library().ip_network((found.packed, prefix_length), strict=False))


def is_address(text: str) -> bool:
    """Return whether a text may be given to the others as an address."""
    try:
        _address(text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def _address(text: str) -> _Address:
    try:
        address: _Address = _library().ip_address(text if len(text) <= _LONGEST else "")
    except ValueError:
        raise ValueError(f"'{_short(text)}' is no address") from None
    return address


@lru_cache(maxsize=1024)
def _network(text: str) -> _Network:
    try:
        network: _Network = _library().ip_network(text if len(text) <= _LONGEST else "", strict=False)
    except ValueError:
        raise ValueError(f"'{_short(text)}' is no network") from None
    if network.network_address != _address(text.partition("/")[0]):
        raise ValueError(f"'{text}' is no network but an address in {network}")
    return network


@cache
def _library() -> Any:
    """Imported with the first address: it takes 4 ms."""
    import ipaddress

    return ipaddress


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


FUNCTIONS = (
    Function("in_net", ("string", "string"), "bool", in_net),
    Function("net_of", ("string", "int"), "string", net_of),
    Function("is_address", ("string",), "bool", is_address),
)
"""Cheap whatever they are given: 4 us for an address, seen before or not."""


# What expressions are made of: environments with their types, variables and functions.

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


# Errors in words: names that stand for nothing, with the name that may have been meant.

MEANT = {"and": "&&", "or": "||", "not": "!", "=": "=="}
_FUNCTIONS = (
    *("all", "exists", "exists_one", "filter", "map", "has", "size", "contains", "startsWith", "endsWith"),
    *("matches", "int", "double", "string", "bool", "timestamp", "duration", "type"),
    *("join", "split", "replace", "trim", "substring", "indexOf", "lowerAscii", "upperAscii", "format"),
    *("distinct", "sort", "slice", "flatten", "reverse"),
    *("sets.contains", "sets.equivalent", "sets.intersects", "lists.range", "math.greatest", "math.least"),
    *(function.name for function in FUNCTIONS),
)
_FAMILIES = ("sets", "lists", "math")
_TAKES = {each.name: f"write {each.name}({', '.join(each.parameters)})" for each in FUNCTIONS}


def unknown_name(name: str, text: str, line: int, column: int, variables: Sequence[str]) -> CelProblem:
    """Return a name that stands for nothing, and the one that may be meant."""
    start = _start(name, text, line, column)
    name = _whole(name, text, line, start)
    if not _row(text, line)[start - 1 + len(name) :].lstrip().startswith("("):
        return CelProblem(sentence(f"there is no '{name}'"), line, start, _name_hint(name, variables))
    if name in _FUNCTIONS:
        return CelProblem(f"`{name}` takes another number of values", line, start, _TAKES.get(name, ""))
    hint = f"write {MEANT[name]}" if name in MEANT else _near(name, _FUNCTIONS)
    if name.startswith("get"):
        hint = "dates and times are read without a time zone"
    return CelProblem(sentence(f"there is no function '{name}'"), line, start, hint)


def _name_hint(name: str, variables: Sequence[str]) -> str:
    inside = [known for known in variables if known.startswith(f"{name}.")]
    if inside:
        return f"write one of {', '.join(inside)}"
    near = _near(name, variables) or _near(".".join(name.split(".")[:2]), variables)
    if near or "." in name or len(name) > 60:
        return near
    fact = f", a fact is node.facts.{name}" if "node.facts" in variables else ""
    return f'text goes in quotes: "{name}"{fact}'


def _start(name: str, text: str, line: int, column: int) -> int:
    """Return where a name begins: CEL points at its last dot, or at the bracket of a call."""
    start = _row(text, line).rfind(name, 0, column - 1 + len(name))
    return start + 1 if start >= 0 else column


def _whole(name: str, text: str, line: int, start: int) -> str:
    """Return the name with what follows it, if it is the first word of functions' names."""
    found = re.match(rf"{re.escape(name)}\.[a-zA-Z]+(?=\()", _row(text, line)[start - 1 :])
    return found[0] if found is not None and name in _FAMILIES else name


def _row(text: str, line: int) -> str:
    rows = text.split("\n")
    return rows[line - 1] if 0 < line <= len(rows) else ""


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1, 0.7)
    return f"did you mean {near[0]}?" if near else ""


# What CEL's messages mean, in words for people.

_PLACED = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): ([^\n]*)")
_UNKNOWN = re.compile(r"undeclared reference to '(.*)' \(in container")
_OVERLOAD = re.compile(r"found no matching overload for '(.*)' applied to '\((.*)\)'")
_NO_OVERLOAD = re.compile(r"No matching overloads found : ([^(]*)(?:\((.*)\))?")
_NO_KEY = re.compile(r'Key not found in map : "(.*)"')
_STATUS = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")

_PATH = f"{string.ascii_letters}{string.digits}_."


def why_it_is_wrong(report: str, text: str, variables: Sequence[str]) -> CelProblem:
    """Return the first error of a compilation."""
    placed = _PLACED.search(report)
    if placed is None or int(placed[1]) < 1:
        report = placed[3] if placed else report
        if "recursion" in report:
            return CelProblem("the expression is nested too deeply")
        return CelProblem(sentence(_STATUS.sub("", report)))
    line, column, message = int(placed[1]), int(placed[2]), placed[3]
    if unknown := _UNKNOWN.match(message):
        return unknown_name(unknown[1], text, line, column, variables)
    if overload := _OVERLOAD.match(message):
        return _wrong_types(overload[1], overload[2], line, column)
    if message.startswith("Syntax error: "):
        return _syntax(message, line, column)
    return CelProblem(sentence(message), line, column)


def why_it_failed(report: str, text: str) -> CelProblem:
    """Return what went wrong while a node was asked."""
    report = _STATUS.sub("", report.removeprefix("RuntimeError: "))
    if "Iteration budget" in report:
        return CelProblem("the expression loops more than 10,000 times")
    if key := _NO_KEY.search(report):
        return _missing_key(key[1], text)
    if overload := _NO_OVERLOAD.search(report):
        return _wrong_types(overload[1], overload[2] or "", *_only_call(overload[1], text))
    return CelProblem(sentence(report))


def not_a_condition(kind: str) -> CelProblem:
    """Return the error of an expression that is neither true nor false."""
    return CelProblem(f"the result is {_type(kind)}, not true or false", hint="compare it with something")


def not_a_key(kind: str) -> CelProblem:
    """Return the error of an expression whose value cannot be a key."""
    hint = "a key is a string, int, bool, double or a list of these"
    return CelProblem(f"the result is {_type(kind)}, not a key", hint=hint)


def _wrong_types(function: str, types: str, line: int, column: int) -> CelProblem:
    if not types or function.startswith("<"):
        return CelProblem("a value is of the wrong type for what is done with it", line, column)
    operator = function if function.isidentifier() else function.strip("_@").replace("_", " ")
    message = f"`{operator}` does not take {_type(types).replace(', ', ' and ')}"
    return CelProblem(message, line, column, _type_hint(function, types))


def _only_call(function: str, text: str) -> tuple[int, int]:
    """Return where the only call of a function stands; the beginning if there are more, or none."""
    calls = list(re.finditer(rf"\b{re.escape(function)}\s*\(", text))
    return _place(text, calls[0].start()) if len(calls) == 1 else (1, 1)


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _type_hint(function: str, types: str) -> str:
    if types.startswith("list(") and function in ("contains", "_==_", "_!=_"):
        return 'to look for an item write "x" in LIST'
    return 'to look inside a text write TEXT.contains("x")' if function == "@in" else ""


def _syntax(message: str, line: int, column: int) -> CelProblem:
    found = re.search(r"(?:at: |input )'(.*?)'?(?: expecting|$)", message)
    what = found[1].strip() if found else ""
    if what == "<EOF>":
        return CelProblem("the expression ends too early", line, column)
    hint = f"write {MEANT[what]}" if what in MEANT else ""
    return CelProblem(sentence(f"{what or 'this'} is not understood here"), line, column, hint)


def _missing_key(key: str, text: str) -> CelProblem:
    """CEL does not say in which map; the expression does if it asks only one for that key."""
    places = {place for place in _places(key, text) if not text[: place[0]].rstrip().endswith("has(")}
    if len({text[start:end] for start, end, _ in places}) != 1:
        return CelProblem(f"there is no key '{key}'")
    start, end, is_field = min(places)
    path = text[start:end]
    ask = f"has({path}.{key})" if is_field else f'"{key}" in {path}'
    return CelProblem(f"{path} has no '{key}'", *_place(text, start), f"ask first: {ask} && ...")


def _places(key: str, text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where a map's name begins and ends of which the key is asked, and whether as a field."""
    for found in re.finditer(rf"\.{re.escape(key)}\b|\[[\"']{re.escape(key)}[\"']\]", text):
        before = text[: found.start()]
        start = len(before.rstrip(_PATH))
        if start < len(before):
            yield start, len(before), found[0][0] == "."


def _type(kind: str) -> str:
    return kind.lower().replace("<", "(").replace(">", ")").replace("int64", "int")


# Compilation, and evaluation in this process.

_SIMPLE = (cel.Type.STRING, cel.Type.INT, cel.Type.BOOL, cel.Type.DOUBLE)
_KEYS = (*_SIMPLE, cel.Type.DYN, cel.Type.LIST, *(cel.Type.List(kind) for kind in _SIMPLE))
_LONGEST_KEY = 1_000


def compile_text(
    text: str, variables: Variables, now: datetime | None = None, *, bounded: bool, key: bool = False
) -> Any:
    """Return the compiled expression; CelProblem if it is wrong or cannot be a condition, or a key."""
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
    """Return the variables without which an expression would not compile, by its serialized form.

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
    """Return whether the condition holds. CEL's own answer will not do: an error of it is true in Python."""
    answer = _truth(expression, values)
    if answer is not True and answer is not False:
        answer = _truth(expression, plain(values))
    if answer is True or answer is False:
        return answer
    return answer if isinstance(answer, CelProblem) else why_it_failed(answer, text)


def key_of(expression: Any, text: str, values: Mapping[str, Any]) -> Any:
    """Return what makes the key of some values, of a list a tuple; or a problem."""
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
    """Return a key of one part, or what is wrong with it."""
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
