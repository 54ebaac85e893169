"""`$collect` as it is written: which values of which nodes make one, and why there may be none."""

from enum import Enum
from typing import Any

import msgspec

from gitcfg.compile.values import Misfit

NAME = "name"
"""Instead of a parameter: the node's own name."""
ORDERS = (NAME, "value")


class Collect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is collected: `param` (or the name) of the nodes that have a feature and share facts.

    `where` is a condition on the other node; `sort` says by what the values are in order. `join` makes one
    text of them; `one` wants exactly one, which is the value itself.
    """

    param: str
    feature: str
    same: tuple[str, ...] = ()
    where: str | None = None
    sort: str = NAME
    join: str | None = None
    one: bool = False

    def written(self) -> Any:
        """As YAML says it."""
        return msgspec.json.decode(msgspec.json.encode(self))


class Why(Enum):
    """Why a value cannot be collected."""

    CIRCLE = "circle"  # it is needed for itself
    UNREADABLE = "unreadable"  # its condition means nothing
    FAILED = "failed"  # its condition cannot be said of some nodes
    TOO_MUCH = "too much"
    SECRET = "secret"  # it is a secret of some nodes, which is for them alone
    NOT_ONE = "not one"  # one is wanted, and there are none or several


class Lack(msgspec.Struct, frozen=True):
    """A value that cannot be collected; of those in a circle `collect` is the first.

    Of NOT_ONE `found` are the nodes that have one, and `values` says how many these are.
    """

    why: Why
    collect: Collect
    found: tuple[str, ...] = ()
    values: int = 0


class Collected(msgspec.Struct, frozen=True):
    """A value, and the nodes that it was collected from, in the order of what it is made of.

    It is None where it cannot be collected; `lack` is why, maybe of another one that it is made of.
    """

    value: Any
    nodes: tuple[str, ...] = ()
    lack: Lack | None = None


def collect_of(given: Any) -> Collect:
    """What a binding collects. Misfit: that is not understood."""
    try:
        found = msgspec.convert(given, Collect)
    except msgspec.ValidationError:
        raise Misfit(
            "cannot be collected by this: `$collect` wants `param` and `feature`, and may have "
            "`same`, `where`, `sort`, `join` and `one`"
        ) from None
    if found.sort not in ORDERS:
        raise Misfit("cannot be collected by this: `sort` is by `name` or by `value`")
    if found.one and found.join is not None:
        raise Misfit("cannot be collected by this: `one` value leaves nothing to `join`")
    return found
