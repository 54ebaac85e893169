"""What a template sees and may write: named maps, methods without text, and plain data only."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

OUTPUT_LIMIT = 4 << 20
"""Bytes that a template may write."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Params(dict[str, Any]):
    """`params`."""


class Node(dict[str, Any]):
    """`node`."""


class Facts(dict[str, Any]):
    """`node.facts`."""


NAMED: Mapping[type, str] = {Params: "params", Node: "node", Facts: "node.facts"}
"""Maps that a message can call by name. (No attribute of theirs: it would hide a key.)"""


def named(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context with its maps named."""
    node = Node(context.get("node", {}))
    if isinstance(node.get("facts"), dict):
        node["facts"] = Facts(node["facts"])
    return {**context, "params": Params(context.get("params", {})), "node": node}


def written(path: str, key: object) -> str:
    """Return how a template names a map's entry, or (path "") a variable."""
    if not path:
        return str(key)
    if isinstance(key, str) and re.fullmatch(r"[A-Za-z_]\w*", key):
        return f"{path}.{key}"
    return f'{path}["{key}"]'


class Textless:
    """Something whose text would hold an address, which differs from one run to the next."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise TypeError(f"{kind(self)} cannot be written")


class Method(Textless):
    """A method or function as a template sees it."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


_KINDS = (
    (Method, "a method"),
    (Textless, "a cycler or joiner"),
    (dict, "a map"),
    (str, "a text"),
    (list | tuple, "a list"),
)


def find_foreign_values(value: object) -> Iterator[object]:
    """Yield what is not data in it."""
    if isinstance(value, dict):
        yield from chain.from_iterable(map(find_foreign_values, chain(value.keys(), value.values())))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(find_foreign_values, value))
    elif value is not None and not isinstance(value, str | int | float):
        yield value


def kind(value: object) -> str:
    """Return what a message calls a value."""
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"a {type(value).__name__}"


def has_address(text: str) -> bool:
    """Return whether it holds the text of something that is not data."""
    return " at 0x" in text and _ADDRESS.search(text) is not None


def without_addresses(message: str) -> str:
    """Return a message that is the same in every run."""
    return _ADDRESS.sub("", message)


def encodable(text: str) -> str:
    """Return text without the half characters that a template's escapes can make."""
    return text.encode(errors="replace").decode()
