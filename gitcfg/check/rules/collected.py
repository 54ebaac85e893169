"""GC406, GC401, GC306: values that cannot be collected from other nodes, and who has none by that."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gitcfg.check.fold import of
from gitcfg.check.rules.collected_where import conditions
from gitcfg.check.structure import SHOWN, listed, some
from gitcfg.compile.ruled.collect import Lack, Why
from gitcfg.compile.ruled.collecting import Asking, Collecting
from gitcfg.compile.ruled.needing import Link
from gitcfg.model import Finding, Origin


def collected(collecting: Collecting) -> Iterator[Finding]:
    """What cannot be collected. Of all nodes of such a finding nothing is half collected."""
    asked = list(collecting.asking())
    lacking: dict[Lack, list[Asking]] = {}
    for each in asked:
        if each.lack is not None:
            lacking.setdefault(each.lack, []).append(each)
    for lack, those in lacking.items():
        if lack.why in _TOLD:
            yield _TOLD[lack.why](collecting, lack, those)
    yield from conditions(collecting, asked)


def _circle(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    links = collecting.around(lack)
    params = _own(those)
    origins = dict.fromkeys([*(link.origin for link in links), *sorted(_places(those))])
    hint = "Set one of these values: what might be found counts, whatever `same` and `where` leave of it."
    return of("GC406", params, _around(links), origins, _nodes(those), hint)


def _around(links: Sequence[Link]) -> str:
    """A circle in a sentence; a long one is cut, as all its places are named besides."""
    first, *others = [f"{link.param} of {link.node}" for link in links]
    if not others:
        return f"{first} is collected from itself."
    if len(others) < SHOWN:
        return f"{first} is collected from {', that from '.join(others)}, and that from {first} again."
    way = ", that from ".join(others[: SHOWN - 1])
    return f"{first} is collected from {way}, and so on: after {len(links):,} steps from itself again."


def _not_one(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    collect = lack.collect
    params = _own(those)
    same = f", with the same {listed(collect.same)}" if collect.same else ""
    there = f"are {lack.values:,}: of {some(lack.found)}" if lack.found else "are none"
    message = (
        f"{listed(params)} wants the {collect.param} of exactly one node that has {collect.feature}{same}, "
        f"and there {there}."
    )
    hint = (
        "Narrow it by `same` or `where`, or take all of them: without `one` it is a list."
        if lack.found
        else f"Give it a node that has {collect.feature}, or set the value by hand."
    )
    return of("GC401", params, message, _places(those), _nodes(those), hint)


def _too_much(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    params = _own(those)
    message = f"{listed(params)} collects more than values may hold: nothing is collected."
    hint = "Collect names instead, or from fewer nodes."
    return of("GC306", params, message, _places(those), _nodes(those), hint)


def _secret(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    collect = lack.collect
    message = (
        f"{listed(_own(those))} is collected from {collect.param} of nodes that have {collect.feature}, "
        "and of some that is a secret, which is theirs alone."
    )
    hint = "Bind {$secret: NAME} here as well: its `for` says which nodes may have it."
    return of("GC306", _own(those), message, _places(those), _nodes(those), hint)


_TOLD: Mapping[Why, Callable[[Collecting, Lack, Sequence[Asking]], Finding]] = {
    Why.CIRCLE: _circle,
    Why.NOT_ONE: _not_one,
    Why.TOO_MUCH: _too_much,
    Why.SECRET: _secret,
}


def _own(those: Iterable[Asking]) -> tuple[str, ...]:
    return tuple(sorted({each.param for each in those if each.own}))


def _places(those: Iterable[Asking]) -> list[Origin]:
    return sorted({each.origin for each in those if each.own})


def _nodes(those: Iterable[Asking]) -> list[str]:
    return sorted({name for each in those for name in each.nodes})
