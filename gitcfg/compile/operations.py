"""Operations of layers: steps, their results on the value below, and trails of steps to a value."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

import msgspec

from gitcfg.compile.classad import join_operands
from gitcfg.compile.values import Misfit
from gitcfg.model import Decision, Op, Origin
from gitcfg.model.secrets import has_version, is_secret, secret_name

NAME = "name"
"""The node's own name, in place of a parameter."""
ORDERS = (NAME, "value")


class Collect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is collected: `param` (or the name) of the nodes that have a feature and share facts.

    `where` is a condition on the other node; `sort` is the order of the values. `join` makes one text of
    them; `one` requires exactly one, which is the value itself.
    """

    param: str
    feature: str
    same: tuple[str, ...] = ()
    where: str | None = None
    sort: str = NAME
    join: str | None = None
    one: bool = False

    def written(self) -> Any:
        """Return it as plain data, as it is written in YAML."""
        return msgspec.json.decode(msgspec.json.encode(self))


class Why(Enum):
    """Why a value cannot be collected."""

    CIRCLE = "circle"  # its own value depends on it
    UNREADABLE = "unreadable"  # its condition is not valid
    FAILED = "failed"  # its condition fails on some nodes
    TOO_MUCH = "too much"
    SECRET = "secret"  # on some nodes it is a secret, which only these may have
    NOT_ONE = "not one"  # exactly one is required, and there are none or several


class Lack(msgspec.Struct, frozen=True):
    """The reason why a value cannot be collected. In a cycle `collect` is the first of all.

    For NOT_ONE, `found` are the nodes that have one, and `values` is the number of values.
    """

    why: Why
    collect: Collect
    found: tuple[str, ...] = ()
    values: int = 0


class Collected(msgspec.Struct, frozen=True):
    """A collected value, and the nodes that it comes from, in the order of its parts.

    It is None if it cannot be collected; `lack` is the reason, perhaps that of another value that it needs.
    """

    value: Any
    nodes: tuple[str, ...] = ()
    lack: Lack | None = None


def parse_collect(given: Any) -> Collect:
    """Return what a binding collects. Raise Misfit if it is not valid."""
    try:
        found = msgspec.convert(given, Collect)
    except msgspec.ValidationError:
        raise Misfit(
            "cannot be collected by this: `$collect` requires `param` and `feature`, and can have "
            "`same`, `where`, `sort`, `join` and `one`"
        ) from None
    if found.sort not in ORDERS:
        raise Misfit("cannot be collected by this: `sort` is by `name` or by `value`")
    if found.one and found.join is not None:
        raise Misfit("cannot be collected by this: `one` value leaves nothing to `join`")
    return found


# The result of an operation on the value below: the algebra of layers (semantics: Composition).


class State(Enum):
    """What a parameter may be instead of a value; None is bound without a value."""

    NOTHING = "nothing"
    PENDING = "pending"  # it needs the node's facts
    LACKING = "lacking"  # something that it needs is missing, which is reported: nothing composes with it


NOTHING = State.NOTHING
PENDING = State.PENDING
LACKING = State.LACKING


class Step(msgspec.Struct, frozen=True, gc=False):
    """An operation of a layer with its operand, as a value of the parameter's type.

    The operand of `null` is the default, or NOTHING if there is none; that of `secret` is the secret's name
    and version, without a version if it does not exist; that of `collect` is a `Collect`. It is LACKING if an
    instance lacks an attribute that it needs. `decided` are the decisions that it uses.
    """

    op: Op
    given: Any
    origin: Origin
    weight: int = 1
    decided: tuple[Decision, ...] = ()

    @property
    def written(self) -> Any:
        """The operand as it is written: for a secret its name; None for `null`."""
        if self.op is Op.NULL or self.given is LACKING:
            return None
        if self.op is Op.COLLECT:
            return self.given.written()
        return secret_name(self.given) if self.op is Op.SECRET else self.given


def is_reset(step: Step) -> bool:
    """Return whether the result does not depend on the value below."""
    if step.op is Op.NULL:
        return step.given is not NOTHING
    return step.op in _RESETS


_RESETS = frozenset({Op.SET, Op.UNSET, Op.FACT, Op.SECRET, Op.COLLECT})


def fold(steps: Iterable[Step], below: Any, facts: Mapping[Any, Any] | None = None) -> Any:
    """Return the result of steps, lowest first, on the value below; PENDING without facts they need."""
    for step in steps:
        below = apply(step, below, facts)
    return below


def apply(step: Step, below: Any, facts: Mapping[Any, Any] | None) -> Any:
    """Return the result of a step on the value below: one cell of the table of composition."""
    op = step.op
    if op is Op.SET:
        return step.given
    if op is Op.NULL:
        return _null(step, below)
    if op is Op.UNSET:
        return NOTHING
    if op is Op.FACT:
        return PENDING if facts is None else facts.get(step.given)
    if op is Op.COLLECT:
        return PENDING if facts is None else _collected(step, facts)
    if op is Op.SECRET:
        return step.given if has_version(step.given) else None
    return _upon(step, below)


def find_collected(step: Step, facts: Mapping[Any, Any]) -> Collected:
    """Return what a step collects. It is among the facts; its key is the `Collect`."""
    found = facts.get(step.given)
    return found if isinstance(found, Collected) else Collected(None)


def _collected(step: Step, facts: Mapping[Any, Any]) -> Any:
    value = find_collected(step, facts).value
    return LACKING if value is None else value


def _upon(step: Step, below: Any) -> Any:
    """Return an operand composed with the value below; a secret below stays unchanged."""
    op = step.op
    if below is PENDING or below is LACKING or is_secret(below):
        return below
    empty = below is NOTHING or below is None
    if op is Op.REMOVE:
        return [] if empty else remove_items(below, step.given)
    if empty:
        return step.given
    return below if op is Op.DEFAULT else _compose(op, below, step.given)


def _null(step: Step, below: Any) -> Any:
    if step.given is not NOTHING:
        return step.given
    return None if below is NOTHING else below


def _compose(op: Op, below: Any, given: Any) -> Any:
    if op is Op.APPEND:
        return [*as_items(below), *given]
    if op is Op.PREPEND:
        return [*given, *as_items(below)]
    if op is Op.MERGE:
        return merge(below, given)
    return join_operands("&&" if op is Op.AND else "||", _expression(below), given)


def as_items(value: Any) -> list[Any]:
    """Return a list as it is, and any other value (one that did not fit, or a fact) as the only item."""
    return value if isinstance(value, list) else [value]


def _expression(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def remove_items(value: Any, removed: list[Any]) -> list[Any]:
    """Return a list without the items that equal a removed one."""
    gone = {identity(item) for item in removed}
    return [item for item in as_items(value) if identity(item) not in gone]


def remove_duplicates(items: list[Any]) -> list[Any]:
    """Return a list without duplicates; the first of equal items remains."""
    first: dict[Any, Any] = {}
    for item in items:
        first.setdefault(identity(item), item)
    return list(first.values())


def identity(item: Any) -> Any:
    """Return a hashable key that is the same for two items exactly if they are equal as JSON."""
    if isinstance(item, bool):
        return ("boolean", item)
    if isinstance(item, list):
        return ("list", *map(identity, item))
    if isinstance(item, dict):
        return ("map", frozenset((key, identity(value)) for key, value in item.items()))
    return item


def merge(below: Any, above: Any) -> Any:
    """Return maps merged key by key, at all levels. For any other values, return the upper one."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    result = dict(below)
    for key, value in above.items():
        result[key] = merge(below[key], value) if key in below else value
    return result


# The trail of a parameter on a node: the ordered steps that lead to its value.


class TrailStep(msgspec.Struct, frozen=True):
    """One step: its operation and operand, the value after it, and its origin.

    `path` is innermost first: `feature X`, ..., then `group Y`, `node N`, `node set S`, `rule R` or `override
    O`. `bound` is False after a step that leaves the parameter unbound. `overridden`: a later reset shadows
    it, or it is a `$default` that did not apply. `nodes` are those from which it collected. `decided` are the
    decisions that it depends on. `fact` is the place of the fact that it uses, if that was looked up.
    """

    op: Op
    given: Any
    result: Any
    origin: Origin
    path: tuple[str, ...]
    overridden: bool
    bound: bool
    nodes: tuple[str, ...] = ()
    decided: tuple[Decision, ...] = ()
    fact: Origin | None = None


def make_trail(
    steps: Iterable[tuple[Step, tuple[str, ...]]], facts: Mapping[str, Any]
) -> tuple[TrailStep, ...]:
    """Return steps with their paths, lowest first, as a trail with results."""
    placed = list(steps)
    last = max((index for index, (step, _) in enumerate(placed) if is_reset(step)), default=0)
    return tuple(_make_steps(placed, last, facts))


def _make_steps(
    placed: list[tuple[Step, tuple[str, ...]]], last: int, facts: Mapping[str, Any]
) -> Iterator[TrailStep]:
    below: Any = NOTHING
    for index, (step, path) in enumerate(placed):
        idle = step.op is Op.DEFAULT and below is not NOTHING and below is not None
        below = apply(step, below, facts)
        yield TrailStep(
            step.op,
            step.written,
            None if below in (NOTHING, LACKING) else below,
            step.origin,
            path,
            overridden=index < last or idle,
            bound=below is not NOTHING,
            nodes=find_collected(step, facts).nodes if step.op is Op.COLLECT else (),
            decided=step.decided,
        )
