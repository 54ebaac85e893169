"""What a template gets and may write: named maps, methods without text, and plain data only."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

OUTPUT_LIMIT = 4 << 20
"""The most bytes that a template may write."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Params(dict[str, Any]):
    """The map `params`."""


class Node(dict[str, Any]):
    """The map `node`."""


class Facts(dict[str, Any]):
    """The map `node.facts`."""


NAMED: Mapping[type, str] = {Params: "params", Node: "node", Facts: "node.facts"}
"""The maps with names, for messages. The name is not an attribute, which would hide a key."""


def named(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context with its maps converted to these types."""
    node = Node(context.get("node", {}))
    if isinstance(node.get("facts"), dict):
        node["facts"] = Facts(node["facts"])
    return {**context, "params": Params(context.get("params", {})), "node": node}


def written(path: str, key: object) -> str:
    """Return how a template writes an entry of a map, or (path "") a variable."""
    if not path:
        return str(key)
    if isinstance(key, str) and re.fullmatch(r"[A-Za-z_]\w*", key):
        return f"{path}.{key}"
    return f'{path}["{key}"]'


class Textless:
    """An object without text, since that would have an address, which differs between runs."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise TypeError(f"{kind(self)} cannot be written")


class Method(Textless):
    """A method or function for a template: it can be called, but not written."""

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
    """Yield the parts of a value that are not data."""
    if isinstance(value, dict):
        yield from chain.from_iterable(map(find_foreign_values, chain(value.keys(), value.values())))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(find_foreign_values, value))
    elif value is not None and not isinstance(value, str | int | float):
        yield value


def kind(value: object) -> str:
    """Return the name of a value's kind for messages."""
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"a {type(value).__name__}"


def has_address(text: str) -> bool:
    """Return whether a text has an address: the text of an object that is not data."""
    return " at 0x" in text and _ADDRESS.search(text) is not None


def without_addresses(message: str) -> str:
    """Return a message without addresses, so that it is the same in every run."""
    return _ADDRESS.sub("", message)


def encodable(text: str) -> str:
    """Return text without the lone surrogates that a template's escapes can create."""
    return text.encode(errors="replace").decode()
