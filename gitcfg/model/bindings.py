"""Bindings: what a layer says of a parameter, with its operation."""

from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.model.findings import Origin


class Op(StrEnum):
    """What a layer does to a parameter: the key after the `$`, `set` for a plain value."""

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
    """What was decided for a rule: it leaves `name` (a feature, parameter or attribute) open at `asked`,
    and its allocation says it at `origin`.
    """

    rule: str
    name: str
    asked: Origin
    origin: Origin


class Binding(msgspec.Struct, frozen=True, gc=False):
    """What one layer says of one parameter, as written.

    `given` is YAML's value; `text` is its source where that is a plain scalar which YAML does not
    read as text (`017`, `TRUE`). `origin` is the parameter's name, `at` the operation or value. `decided` is
    what of it was decided for rules.
    """

    op: Op
    given: Any
    text: str | None
    origin: Origin
    at: Origin
    decided: tuple[Decision, ...] = ()
