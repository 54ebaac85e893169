"""Nodes' features and final values as text, written without ever holding them as objects."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.splice import Splicer
from gitcfg.model.secrets import shown

_HELD = 8  # texts of classes, for nodes beside each other are often alike; more would only crowd out caches


def plain(fleet: Fleet, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each node with its values, a line each: NAME = value."""
    return _texts(fleet, names, Splicer(fleet.declarations, _line).text)


def members(fleet: Fleet, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each node with its `features` and `params` as a JSON object in one line."""
    splicer = Splicer(fleet.declarations, lambda name, value: f",{_json(name)}:{_json(value)}")

    def text(kind: NodeClass) -> str:
        features = _json(sorted(kind.features))
        return f'{{"features":{features},"params":{{{splicer.text(kind)[1:]}}}}}'

    return _texts(fleet, names, text)


def _texts(fleet: Fleet, names: Iterable[str], text: Callable[[NodeClass], str]) -> Iterator[tuple[str, str]]:
    """Each node with the text of its class."""
    held = lru_cache(_HELD)(text)
    return ((name, held(fleet.kinds[name])) for name in names)


def _line(name: str, value: Any) -> str:
    value = shown(value)
    return f"{name} = {value if isinstance(value, str) else _json(value)}\n"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
