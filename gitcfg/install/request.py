"""What is asked of a plan: the package in force, the new one, what stands, and what is to be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional

from .order import Debt
from .package import Actions, Package
from .standing import Standing

Resolve = Callable[[tuple[str, ...]], Optional[tuple[str, ...]]]


class Request(NamedTuple):
    """What is asked: the package in force (None: nothing is known), the new one, and what is to be done.

    `standing` has every path of both; `owners` the numbers of owner and group by their names; `resolve`
    makes a command what this node runs, None where its policy does not let it: on the way forward such a
    command was refused before, on the way back (an older policy let it) it is left out. `spared` stand as
    they do: their content is secret, and not known here. `owed` is what failed on a way back before.
    """

    old: Package | None
    new: Package
    actions: Actions
    standing: Mapping[str, Standing]
    owners: Mapping[tuple[str, str], tuple[int, int]]
    missing: tuple[str, ...]
    resolve: Resolve
    spared: frozenset[str] = frozenset()
    owed: tuple[Debt, ...] = ()


def paths_of(old: Package | None, new: Package) -> tuple[str, ...]:
    """Every path that an installation may touch."""
    return tuple(sorted({*new.meant, *(old.meant if old else ())}))


def asked(request: Request) -> Actions:
    """What is to be done: nothing, where the package in force is this very one, for it has all been done."""
    old, new = request.old, request.new
    if old is not None and (old.commit, old.digest) == (new.commit, new.digest):
        return Actions()
    return request.actions
