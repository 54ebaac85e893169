"""The scalars of a YAML text: where each stands, and what it holds there."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.convert.sanitize.roles import Role, role_below
from gitcfg.load import yaml

_DEEPEST = 64
"""What is deeper is refused (GC101); libyaml takes 15 s for 100,000 levels."""


class Scalar(msgspec.Struct, frozen=True):
    """Where a scalar stands in a text, and what it is."""

    start: int
    end: int
    value: str
    style: str | None
    role: Role
    key: bool


def parse_scalars(text: str) -> Iterator[Scalar]:
    """Every scalar with the role that its place gives it. YAMLError: gitcfg itself would not take it."""
    open: list[_Open] = []
    for event in yaml.events(text):
        if isinstance(event, yaml.ScalarEvent):
            key = bool(open) and open[-1].key
            (start, end), role = _span(event), _role(open)
            yield Scalar(start, end, event.value, event.style, role, key)
            _advance(open, event.value)
        elif isinstance(event, yaml.AliasEvent):
            _advance(open, "")
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(open) > _DEEPEST:
                raise yaml.YAMLError
            open.append(_Open(_role(open), isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            open.pop()
            _advance(open, "")


class _Open:
    """A mapping or list that is being read; `key`: a key comes next."""

    __slots__ = ("key", "mapping", "role", "under")

    def __init__(self, role: Role, mapping: bool) -> None:
        self.role = self.under = role
        self.mapping = self.key = mapping


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


def _role(open: list[_Open]) -> Role:
    return open[-1].under if open else Role.STRUCTURE


def _advance(open: list[_Open], value: str) -> None:
    if open and open[-1].mapping:
        top = open[-1]
        top.under = role_below(top.role, value) if top.key else top.role
        top.key = not top.key
