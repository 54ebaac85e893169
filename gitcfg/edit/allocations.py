"""Allocations written to their files; files that say the same already stay as they are."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.edit.draft import Draft
from gitcfg.edit.yaml.scalars import from_json, to_yaml
from gitcfg.model import Binding
from gitcfg.model.rules import Allocation

_HEAD = "# What `gitcfg solve` decided for the rule {}. Change the rule, not this file."

_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}(?:/[0-9]+)?")
"""IPv4, which no reader takes for a number."""


def allocation_text(said: Allocation) -> str:
    """Return the text of allocations/RULE.yaml: a slot a line, in the order in which they are given."""
    return "\n".join((_HEAD.format(said.name), *_lines(said), ""))


def _lines(said: Allocation) -> Iterator[str]:
    if said.install:
        yield "install:"
        yield from (f"  - {to_yaml(ref.name)}" for ref in said.install)
    if said.values:
        yield "values:"
        for slot, values in said.values.items():
            given = (f"{to_yaml(name)}: {_value(bound.given)}" for name, bound in values.items())
            yield f"  {to_yaml(slot)}: {{{', '.join(given)}}}"


def _value(given: Any) -> str:
    if isinstance(given, str) and _ADDRESS.fullmatch(given):
        return given
    return to_yaml(from_json(given))


def put_allocations(draft: Draft, stood: Mapping[str, Allocation], made: Mapping[str, Allocation]) -> None:
    """Write what is other than what stands; files of rules for which nothing is decided any more are gone.

    `stood` is what the draft's files say: one that says the same in the same order keeps its comments.
    """
    for name in sorted(stood.keys() | made.keys()):
        old, new = stood.get(name), made.get(name)
        if new is None:
            draft.write(_path(name), None)
        elif old is None or _said(old) != _said(new):
            draft.write(_path(name), allocation_text(new))


def _said(allocation: Allocation) -> tuple[Any, ...]:
    values = [(slot, _plain(given)) for slot, given in allocation.values.items()]
    return tuple(ref.name for ref in allocation.install), values


def _plain(values: Mapping[str, Binding]) -> dict[str, Any]:
    return {name: bound.given for name, bound in values.items()}


def _path(rule: str) -> str:
    return f"allocations/{rule}.yaml"
