"""The CEL engine: gitcfg's functions, environments, error messages, compilation and evaluation.

No other module imports the CEL library, whose import is slow: callers declare expressions without it.
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

from gitcfg.cel.base import CelProblem, plain
from gitcfg.cel.terms import find_names

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network


# The functions that gitcfg adds to expressions: IP addresses and networks.

_LONGEST = 100
"""The longest text for `ipaddress`, whose time grows with the length, and whose errors repeat the text."""

_Address: TypeAlias = "IPv4Address | IPv6Address"
_Network: TypeAlias = "IPv4Network | IPv6Network"


class Function(msgspec.Struct, frozen=True):
    """A function for CEL. Its types are named as those of variables; a ValueError becomes CEL's error."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    call: Callable[..., Any]


def in_net(address: str, net: str) -> bool:
    """Return whether an address is in a network; false if one is IPv4 and the other IPv6."""
    return _address(address) in _network(net)


def net_of(address: str, prefix_length: int) -> str:
    """Return the network of an address. Raise ValueError if the prefix length is not valid for it."""
    found = _address(address)
    if not 0 <= prefix_length <= found.max_prefixlen:
        raise ValueError(f"{prefix_length} is not a prefix length of {found}")
    return str(_library().ip_network((found.packed, prefix_length), strict=False))


def is_address(text: str) -> bool:
    """Return whether the other functions accept a text as an address."""
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
        raise ValueError(f"'{_short(text)}' is not an address") from None
    return address


@lru_cache(maxsize=1024)
def _network(text: str) -> _Network:
    try:
        network: _Network = _library().ip_network(text if len(text) <= _LONGEST else "", strict=False)
    except ValueError:
        raise ValueError(f"'{_short(text)}' is not a network") from None
    if network.network_address != _address(text.partition("/")[0]):
        raise ValueError(f"'{text}' is not a network but an address in {network}")
    return network


@cache
def _library() -> Any:
    """Return the module `ipaddress`, imported with the first address: that takes 4 ms."""
    import ipaddress

    return ipaddress


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


FUNCTIONS = (
    Function("in_net", ("string", "string"), "bool", in_net),
    Function("net_of", ("string", "int"), "string", net_of),
    Function("is_address", ("string",), "bool", is_address),
)
"""All are cheap for any argument: 4 us for an address, cached or not."""


# What expressions may use: environments with their types, variables and functions.

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
"""Functions whose time is at most that of reading their arguments once and whose results are small."""

_EXTENSIONS = ("strings", "sets", "lists", "math")
"""Not bounded: `sets` compares all pairs, and `strings` can make texts larger."""

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
"""Not bounded: with the name of a time zone these open a file of that name on this machine."""


@lru_cache(maxsize=64)
def environment(variables: Variables, now: datetime | None, *, bounded: bool) -> Any:
    """Return an environment with these variables, and with age(TIMESTAMP) if `now` is given.

    With `bounded` it has no loops, no `+`, no regular expressions and no extensions, so that every expression
    is cheap.
    """
    functions = _declare_functions()
    if now is not None:
        age = Function("age", ("timestamp",), "duration", lambda then: now - then)
        functions = [*functions, _declare(age)]
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_bounded_config() if bounded else _full_config()),
        variables={name: _TYPES[kind] for name, kind in variables},
        functions=functions,
    )


@cache
def _declare_functions() -> list[Any]:
    return [_declare(function) for function in FUNCTIONS]


def _declare(function: Function) -> Any:
    overload = cel.Overload(
        id=f"{function.name}_{'_'.join(function.parameters)}",
        return_type=_TYPES[function.gives],
        parameters=[_TYPES[kind] for kind in function.parameters],
        impl=function.call,
    )
    return cel.FunctionDecl(function.name, [overload])


def _bounded_config() -> str:
    listed = "".join(f'    - name: "{name}"\n' for name in _BOUNDED)
    return f"stdlib:\n  include_macros: [has]\n  include_functions:\n{listed}"


def _full_config() -> str:
    listed = "".join(
        f"    - name: {name}\n      overloads: [{{id: timestamp_to_{overload}}}]\n"
        for name, overload in _ZONED.items()
    )
    extensions = "".join(f"  - name: {name}\n" for name in _EXTENSIONS)
    return f"extensions:\n{extensions}stdlib:\n  exclude_functions:\n{listed}"


# Errors for unknown names, with the name that was probably meant.

_MEANT = {"and": "&&", "or": "||", "not": "!", "=": "=="}
_FUNCTIONS = (
    *("all", "exists", "exists_one", "filter", "map", "has", "size", "contains", "startsWith", "endsWith"),
    *("matches", "int", "double", "string", "bool", "timestamp", "duration", "type"),
    *("join", "split", "replace", "trim", "substring", "indexOf", "lowerAscii", "upperAscii", "format"),
    *("distinct", "sort", "slice", "flatten", "reverse"),
    *("sets.contains", "sets.equivalent", "sets.intersects", "lists.range", "math.greatest", "math.least"),
    *(function.name for function in FUNCTIONS),
)
_FAMILIES = ("sets", "lists", "math")
"""The first words of functions of extensions: `sets.contains`."""
_TAKES = {each.name: f"write {each.name}({', '.join(each.parameters)})" for each in FUNCTIONS}


def _one_line(message: str) -> str:
    """Return a message in one line of limited length, without characters that cannot be encoded."""
    line = " ".join(message.encode(errors="replace").decode().split())
    return line if len(line) <= 300 else line[:300] + "..."


def _unknown_name(name: str, text: str, line: int, column: int, variables: Sequence[str]) -> CelProblem:
    """Return the error for an unknown name, with the name that was probably meant."""
    rows = text.split("\n")
    row = rows[line - 1] if 0 < line <= len(rows) else ""
    # CEL points at a name's last dot, or at the bracket of a call.
    start = row.rfind(name, 0, column - 1 + len(name)) + 1 or column
    if name in _FAMILIES and (found := re.match(rf"{name}\.[a-zA-Z]+(?=\()", row[start - 1 :])):
        name = found[0]
    if not row[start - 1 + len(name) :].lstrip().startswith("("):
        return CelProblem(_one_line(f"there is no '{name}'"), line, start, _name_hint(name, variables))
    if name in _FUNCTIONS:
        return CelProblem(f"`{name}` takes a different number of values", line, start, _TAKES.get(name, ""))
    hint = f"write {_MEANT[name]}" if name in _MEANT else _near(name, _FUNCTIONS)
    if name.startswith("get"):
        hint = "dates and times are read without a time zone"
    return CelProblem(_one_line(f"there is no function '{name}'"), line, start, hint)


def _name_hint(name: str, variables: Sequence[str]) -> str:
    inside = [known for known in variables if known.startswith(f"{name}.")]
    if inside:
        return f"write one of {', '.join(inside)}"
    near = _near(name, variables) or _near(".".join(name.split(".")[:2]), variables)
    if near or "." in name or len(name) > 60:
        return near
    fact = f", a fact is node.facts.{name}" if "node.facts" in variables else ""
    return f'text goes in quotes: "{name}"{fact}'


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1, 0.7)
    return f"did you mean {near[0]}?" if near else ""


# CEL's messages, in plain words.

_PLACED = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): ([^\n]*)")
_UNKNOWN = re.compile(r"undeclared reference to '(.*)' \(in container")
_OVERLOAD = re.compile(r"found no matching overload for '(.*)' applied to '\((.*)\)'")
_NO_OVERLOAD = re.compile(r"No matching overloads found : ([^(]*)(?:\((.*)\))?")
_NO_KEY = re.compile(r'Key not found in map : "(.*)"')
_STATUS = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")

_PATH = f"{string.ascii_letters}{string.digits}_."


def _explain_compilation(report: str, text: str, variables: Sequence[str]) -> CelProblem:
    """Return the first error of CEL's report on a compilation."""
    placed = _PLACED.search(report)
    if placed is None or int(placed[1]) < 1:
        report = placed[3] if placed else report
        if "recursion" in report:
            return CelProblem("the expression is nested too deeply")
        return CelProblem(_one_line(_STATUS.sub("", report)))
    line, column, message = int(placed[1]), int(placed[2]), placed[3]
    if unknown := _UNKNOWN.match(message):
        return _unknown_name(unknown[1], text, line, column, variables)
    if overload := _OVERLOAD.match(message):
        return _wrong_types(overload[1], overload[2], line, column)
    if message.startswith("Syntax error: "):
        return _syntax_error(message, line, column)
    return CelProblem(_one_line(message), line, column)


def _explain_failure(report: str, text: str) -> CelProblem:
    """Return the error for CEL's report on a failed evaluation."""
    report = _STATUS.sub("", report.removeprefix("RuntimeError: "))
    if "Iteration budget" in report:
        return CelProblem("the expression loops more than 10,000 times")
    if key := _NO_KEY.search(report):
        return _missing_key(key[1], text)
    if overload := _NO_OVERLOAD.search(report):
        calls = list(re.finditer(rf"\b{re.escape(overload[1])}\s*\(", text))
        place = _place(text, calls[0].start()) if len(calls) == 1 else (1, 1)  # else it is ambiguous
        return _wrong_types(overload[1], overload[2] or "", *place)
    return CelProblem(_one_line(report))


def _not_a_condition(kind: str) -> CelProblem:
    return CelProblem(
        f"the result is {_type_name(kind)}, not true or false", hint="compare it with something"
    )


def _not_a_key(kind: str) -> CelProblem:
    hint = "a key is a string, int, bool, double or a list of these"
    return CelProblem(f"the result is {_type_name(kind)}, not a key", hint=hint)


def _wrong_types(function: str, types: str, line: int, column: int) -> CelProblem:
    if not types or function.startswith("<"):
        return CelProblem("a value has the wrong type for this operation", line, column)
    operator = function if function.isidentifier() else function.strip("_@").replace("_", " ")
    hint = 'to search in a text, write TEXT.contains("x")' if function == "@in" else ""
    if types.startswith("list(") and function in ("contains", "_==_", "_!=_"):
        hint = 'to search for an item, write "x" in LIST'
    message = f"`{operator}` does not take {_type_name(types).replace(', ', ' and ')}"
    return CelProblem(message, line, column, hint)


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _syntax_error(message: str, line: int, column: int) -> CelProblem:
    found = re.search(r"(?:at: |input )'(.*?)'?(?: expecting|$)", message)
    what = found[1].strip() if found else ""
    if what == "<EOF>":
        return CelProblem("the expression ends too early", line, column)
    hint = f"write {_MEANT[what]}" if what in _MEANT else ""
    return CelProblem(_one_line(f"{what or 'this'} is not valid here"), line, column, hint)


def _missing_key(key: str, text: str) -> CelProblem:
    """Return the error for a missing key.

    CEL does not name the map. The expression does if it looks up that key in only one map.
    """
    places = {place for place in _places(key, text) if not text[: place[0]].rstrip().endswith("has(")}
    if len({text[start:end] for start, end, _ in places}) != 1:
        return CelProblem(f"there is no key '{key}'")
    start, end, is_field = min(places)
    path = text[start:end]
    ask = f"has({path}.{key})" if is_field else f'"{key}" in {path}'
    return CelProblem(f"{path} has no '{key}'", *_place(text, start), f"ask first: {ask} && ...")


def _places(key: str, text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where the name of a map in which the key is looked up begins and ends, and whether as a field."""
    for found in re.finditer(rf"\.{re.escape(key)}\b|\[[\"']{re.escape(key)}[\"']\]", text):
        before = text[: found.start()]
        start = len(before.rstrip(_PATH))
        if start < len(before):
            yield start, len(before), found[0][0] == "."


def _type_name(kind: str) -> str:
    return kind.lower().replace("<", "(").replace(">", ")").replace("int64", "int")


# Compilation, and evaluation in this process.

_SIMPLE = (cel.Type.STRING, cel.Type.INT, cel.Type.BOOL, cel.Type.DOUBLE)
_KEYS = (*_SIMPLE, cel.Type.DYN, cel.Type.LIST, *(cel.Type.List(kind) for kind in _SIMPLE))
_LONGEST_KEY = 1_000


def compile_text(
    text: str, variables: Variables, now: datetime | None = None, *, bounded: bool, key: bool = False
) -> Any:
    """Return the compiled expression.

    Raise CelProblem if it is wrong, or not a condition (with `key`: a key).
    """
    try:
        expression = environment(variables, now, bounded=bounded).compile(text)
    except RuntimeError as error:
        raise _explain_compilation(str(error), text, [name for name, _ in variables]) from None
    kind = expression.return_type()
    if key and kind not in _KEYS:
        raise _not_a_key(str(kind))
    if not key and kind not in (cel.Type.BOOL, cel.Type.DYN):
        raise _not_a_condition(str(kind))
    return expression


def names_read(
    checked: bytes, text: str, variables: Variables, now: datetime | None = None, *, bounded: bool
) -> frozenset[str]:
    """Return the variables that an expression needs to compile, found in its serialized form.

    A loop variable counts as the variable of that name. Only names of one word can be hidden by a loop, so
    the expression is compiled without these to find out.
    """
    names = set()
    for name in find_names(checked, [name for name, _ in variables]):
        others = tuple(variable for variable in variables if variable[0] != name)
        if "." in name or not _compiles(text, others, bounded, now):
            names.add(name)
    return frozenset(names)


def truth(expression: Any, text: str, values: Mapping[str, Any]) -> bool | CelProblem:
    """Return whether the condition holds, or a problem.

    CEL's own conversion is not used: in Python a CEL error is true.
    """
    answer = _truth(expression, values)
    if not isinstance(answer, bool):
        answer = _truth(expression, plain(values))
    if isinstance(answer, bool):
        return answer
    return answer if isinstance(answer, CelProblem) else _explain_failure(answer, text)


def key_of(expression: Any, text: str, values: Mapping[str, Any]) -> Any:
    """Return the key of a row of values (a tuple if CEL gives a list), or a problem."""
    answer = _key(expression, values)
    if isinstance(answer, _Failed | CelProblem):
        answer = _key(expression, plain(values))
    return _explain_failure(answer.args[0], text) if isinstance(answer, _Failed) else answer


class _Failed(Exception):
    """CEL's message of a failed evaluation; a type of its own, since any text can be a key."""


def _truth(expression: Any, values: Mapping[str, Any]) -> Any:
    """Return true or false; else a problem, or CEL's message."""
    try:
        value = expression.eval(data=values)
    except RuntimeError as error:
        return str(error)
    answer = value.value()
    if isinstance(answer, bool) or value.type() == cel.Type.ERROR:
        return answer
    return _not_a_condition(str(value.type()))


def _key(expression: Any, values: Mapping[str, Any]) -> Any:
    try:
        value = expression.eval(data=values)
    except RuntimeError as error:
        return _Failed(str(error))
    kind = value.type()
    if kind == cel.Type.ERROR:
        return _Failed(str(value.value()))
    if kind == cel.Type.LIST:
        return _list_key(value.plain_value())
    return _single_key(value.value()) if kind in _SIMPLE else _not_a_key(str(kind))


def _list_key(items: list[Any]) -> Any:
    if len(items) + sum(len(item) for item in items if isinstance(item, str)) > _LONGEST_KEY:
        return _too_long()
    problems = (item for item in map(_single_key, items) if isinstance(item, CelProblem))
    return next(problems, tuple(items))


def _single_key(item: Any) -> Any:
    """Return a key of one part, or a problem."""
    if not isinstance(item, str | int | float):
        return _not_a_key("a list of other values")
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
