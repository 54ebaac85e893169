"""A domain's items, as they are written, as the set of values that they stand for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from gitcfg.domain import networks
from gitcfg.domain.choice import kind_of
from gitcfg.domain.codecs import CODECS
from gitcfg.domain.intervals import Interval, Intervals, difference, merged, touches
from gitcfg.domain.item import LONGEST_ITEM, Item, read_item
from gitcfg.domain.kinds import Kind
from gitcfg.domain.problem import DomainProblem
from gitcfg.domain.shapes import misspelt
from gitcfg.domain.spans import Spans
from gitcfg.domain.values import Values
from gitcfg.domain.words import words
from gitcfg.model.names import shown

__all__ = ["LONGEST_ITEM", "MOST_ITEMS", "parse"]

MOST_ITEMS = 10_000
"""More items than this no domain has."""

_Read = TypeVar("_Read")


def parse(items: Sequence[object], type: str | None = None) -> Values:
    """The set that items stand for: integers and text, as YAML gives them, `!` before what is kept out.

    `type` is the parameter's declared type; where it is None or `string`, the items' look decides what
    they are. docs/domains.md lists what may be written. Time and space go with the items, never with the
    values. DomainProblem: an item is wrong, there are too many, or they leave no value.
    """
    if not items:
        raise DomainProblem("the domain is empty", hint="list the values that are allowed")
    if len(items) > MOST_ITEMS:
        message = f"a domain has {MOST_ITEMS} items at most, this one {len(items)}"
        raise DomainProblem(message, hint="write ranges", index=MOST_ITEMS)
    read = [read_item(index, given) for index, given in enumerate(items)]
    wanted = [item for item in read if not item.excluded]
    if not wanted:
        raise read[0].problem("there are only exclusions", "list first what they are taken from")
    kind = kind_of(read, type)
    unwanted = [item for item in read if item.excluded]
    found = _words(wanted, unwanted) if kind is Kind.TEXT else _spans(kind, wanted, unwanted)
    if not found:
        raise unwanted[-1].problem("nothing is left: every value is excluded", "take an exclusion away")
    return found


def _words(wanted: Iterable[Item], unwanted: Iterable[Item]) -> Values:
    found = words(item.text for item in wanted)
    for item in unwanted:
        if item.text not in found:
            raise _excludes_nothing(item)
    return found - words(item.text for item in unwanted)


def _spans(kind: Kind, wanted: Sequence[Item], unwanted: Iterable[Item]) -> Spans:
    read = CODECS[kind].read
    pairs = [(item, _placed(read, item)) for item in wanted]
    if kind is Kind.NETWORK:
        sizes = _sizes(pairs)
        cuts = [(item, _placed(lambda text: networks.overlapping(text, sizes), item)) for item in unwanted]
    else:
        cuts = [(item, [_placed(read, item)]) for item in unwanted]
    found = merged(interval for _, interval in pairs)
    return Spans(kind, difference(found, merged(_effective(cuts, found))))


def _effective(cuts: Iterable[tuple[Item, list[Interval]]], found: Intervals) -> Iterator[Interval]:
    """What exclusions take away. DomainProblem: one takes nothing, which is a mistake in it."""
    for item, intervals in cuts:
        if not any(touches(found, *interval) for interval in intervals):
            raise _excludes_nothing(item)
        yield from intervals


def _sizes(pairs: Iterable[tuple[Item, Interval]]) -> set[tuple[int, int]]:
    """The sizes of a domain's networks. DomainProblem: an item has another than those before it."""
    found: set[tuple[int, int]] = set()
    for item, interval in pairs:
        found |= networks.sizes([interval])
        if not networks.one_size(found):
            hint = "give them domains of their own: networks of two lengths overlap"
            raise item.problem("the networks of a domain have one length", hint)
    return found


def _placed(read: Callable[[str], _Read], item: Item) -> _Read:
    try:
        return read(item.text)
    except DomainProblem as problem:
        raise (misspelt(item.text) or problem).moved(item.columns, item.index) from None


def _excludes_nothing(item: Item) -> DomainProblem:
    return item.problem(
        f"'{shown(item.text)}' excludes nothing: no other item allows it", "correct it, or take it away"
    )
