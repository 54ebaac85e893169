"""The functions that gitcfg adds to expressions: IP addresses and networks."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from cel_expr_python import cel

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

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
    """Is an address in a network? Not if one of them is IPv4 and the other IPv6."""
    return _address(address) in _network(net)


def net_of(address: str, prefix_length: int) -> str:
    """The network of an address."""
    found = _address(address)
    if not 0 <= prefix_length <= found.max_prefixlen:
        raise ValueError(f"{prefix_length} is no length of a prefix of {found}")
    return str(_library().ip_network((found.packed, prefix_length), strict=False))


def is_address(text: str) -> bool:
    """May a text be given to the others as an address?"""
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
