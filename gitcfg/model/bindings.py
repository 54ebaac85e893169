"""Bindings: parameters in a layer, with their operations."""

from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.model.findings import Origin


class Op(StrEnum):
    """An operation: the key after the `$`, or `set` for a plain value."""

    SET = "set"
    NULL = "null"
    APPEND = "append"
    PREPEND = "prepend"
    REMOVE = "remove"
    AND = "and"
    OR = "or"
    MERGE = "merge"
    UNSET = "unset"
    DEFAULT = "default"
    FACT = "fact"
    SECRET = "secret"
    COLLECT = "collect"


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What an allocation fills in for a rule.

    The rule leaves `name` (a feature, parameter or attribute) open at `asked`; its allocation has it at
    `origin`.
    """

    rule: str
    name: str
    asked: Origin
    origin: Origin


class Binding(msgspec.Struct, frozen=True, gc=False):
    """A parameter in a layer, as written.

    `given` is YAML's value; `text` is its source if that is a plain scalar which YAML does not read as text
    (`017`, `TRUE`). `origin` is the place of the parameter's name, `at` that of the operation or value.
    `decided` lists what allocations filled in.
    """

    op: Op
    given: Any
    text: str | None
    origin: Origin
    at: Origin
    decided: tuple[Decision, ...] = ()
