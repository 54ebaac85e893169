"""The parser of domains: `1024-65535, not 8080`, networks, dates, names."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from gitcfg.domain.addresses import have_one_size, network_sizes, overlapping_networks
from gitcfg.domain.intervals import Interval, Intervals, difference, merged, parse_integer, touches
from gitcfg.domain.sets import CODECS, Spans, make_words
from gitcfg.domain.values import (
    DomainProblem,
    Kind,
    Values,
    is_decimal,
    misspelt,
    range_of_text,
    shape,
)
from gitcfg.model.names import shown

LONGEST_ITEM = 4000
"""More characters than this no item has."""

_NAMES = {bool: "a boolean", list: "a list", dict: "a map", type(None): "nothing"}


class Item(msgspec.Struct, frozen=True, gc=False):
    """An item's own text, which begins after so many columns, without the signs in front of it.

    `excluded`: it had an exclamation mark. `exact`: an equals sign. `number`: it was no text.
    """

    index: int
    text: str
    columns: int = 0
    excluded: bool = False
    exact: bool = False
    number: bool = False

    @property
    def shape(self) -> Kind:
        """What it looks like."""
        if self.number:
            return Kind.INTEGER
        return Kind.TEXT if self.exact else shape(self.text)

    def problem(self, message: str, hint: str = "") -> DomainProblem:
        """Something that is wrong with it as a whole."""
        return DomainProblem(message, 1 + self.columns, hint, self.index)


def read_item(index: int, given: object) -> Item:
    """What YAML gave. DomainProblem: it is neither an integer nor text, or longer than anything of use."""
    if isinstance(given, str):
        return _text(index, given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        message = f"an item is a number or text, not {_NAMES.get(type(given), 'this')}"
        raise DomainProblem(message, hint="write whole numbers, or text in quotes", index=index)
    if isinstance(given, float):
        hint = "put it in quotes if it is text"
        raise DomainProblem(f"{given} is no whole number", hint=hint, index=index)
    try:
        return Item(index, str(parse_integer(given)), number=True)
    except DomainProblem as problem:
        raise problem.moved(0, index) from None


def _text(index: int, given: str) -> Item:
    text = given.lstrip()
    excluded = text.startswith("!")
    text = text[1:].lstrip() if excluded else text
    exact = text.startswith("=")
    text = text[1:] if exact else text.rstrip()
    columns = len(given.rstrip()) - len(text.rstrip())
    item = Item(index, text, columns, excluded, exact)
    if not text and not exact:
        raise item.problem("the item says nothing", 'write "=" for the text that is empty')
    if len(text) > LONGEST_ITEM:
        message = f"an item has {LONGEST_ITEM} characters at most, this one {len(text)}"
        raise item.problem(message, "shorten it")
    return item


# What kind of values a domain is about: as its parameter's type says, or as its items look.

_SAID = {
    "integer": Kind.INTEGER,
    "number": Kind.INTEGER,
    "expression": Kind.TEXT,
    "path": Kind.TEXT,
}
_ONE_KIND = "a domain has values of one kind; text that looks like another begins with ="


def kind_of(items: Sequence[Item], type: str | None) -> Kind:
    """The kind of all items, of which one at least is no exclusion. DomainProblem: one is of another."""
    if type not in _SAID and type not in ("string", None):
        known = "integer, number, string, path and expression"
        raise DomainProblem(
            f"a parameter of type {shown(type)} has no domain", hint=f"parameters of type {known} have"
        )
    if type not in _SAID:
        return _seen(items, type)
    for item in items:
        _agrees(item, _SAID[type])
    return _SAID[type]


def _agrees(item: Item, kind: Kind) -> None:
    """With what a type says, an item is of its kind however it looks, if it does not say another itself."""
    if kind is Kind.TEXT and item.number:
        raise item.problem(f"{item.text} is a number, and the parameter is text", "put it in quotes")
    if kind is Kind.INTEGER and item.exact:
        raise item.problem("an equals sign stands before text, and the parameter is a number", "leave it out")


def _seen(items: Sequence[Item], type: str | None) -> Kind:
    networks = (item for item in items if item.shape is Kind.NETWORK)
    first = next(networks, next(item for item in items if not item.excluded))
    kind = first.shape
    for item in items:
        if type == "string" and item.shape is Kind.INTEGER:
            raise _number_for_text(item)
        if not _fits(item, kind):
            raise _another_kind(item, first)
        if kind is Kind.TEXT and not item.exact and (problem := range_of_text(item.text)):
            raise problem.moved(item.columns, item.index)
    return kind


def _fits(item: Item, kind: Kind) -> bool:
    """Does it look like this kind? Addresses that are kept out of networks do; and a single number
    can only be text behind its exclamation mark.
    """
    if kind is Kind.NETWORK and item.shape is Kind.ADDRESS:
        return True
    return item.shape is kind or (kind is Kind.INTEGER and item.excluded and is_decimal(item.text))


def _another_kind(item: Item, first: Item) -> DomainProblem:
    found, wanted = shown(item.text), shown(first.text)
    quoted = first.shape is Kind.INTEGER and is_decimal(item.text)
    return item.problem(
        f"'{found}' is {item.shape.one}, and '{wanted}' {first.shape.one}",
        "leave out its quotes" if quoted else _ONE_KIND,
    )


def _number_for_text(item: Item) -> DomainProblem:
    if item.number:
        return item.problem(f"{item.text} is a number, and the parameter is text", "put it in quotes")
    hint = f"declare the parameter an integer, or write ={shown(item.text)} for just this text"
    return item.problem("this is a range of numbers, and the parameter is text", hint)


# A domain's items, as they are written, as the set of values that they stand for.

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
    found = make_words(item.text for item in wanted)
    for item in unwanted:
        if item.text not in found:
            raise _excludes_nothing(item)
    return found - make_words(item.text for item in unwanted)


def _spans(kind: Kind, wanted: Sequence[Item], unwanted: Iterable[Item]) -> Spans:
    read = CODECS[kind].read
    pairs = [(item, _placed(read, item)) for item in wanted]
    if kind is Kind.NETWORK:
        sizes = _sizes(pairs)
        cuts = [(item, _placed(lambda text: overlapping_networks(text, sizes), item)) for item in unwanted]
    else:
        cuts = [(item, [_placed(read, item)]) for item in unwanted]
    found = merged(interval for _, interval in pairs)
    return Spans(kind, difference(found, merged(_effective(cuts, found))))


def _effective(cuts: Iterable[tuple[Item, list[Interval]]], found: Intervals) -> Iterator[Interval]:
    """Yield what exclusions take away. DomainProblem: one takes nothing, which is a mistake in it."""
    for item, intervals in cuts:
        if not any(touches(found, *interval) for interval in intervals):
            raise _excludes_nothing(item)
        yield from intervals


def _sizes(pairs: Iterable[tuple[Item, Interval]]) -> set[tuple[int, int]]:
    """Return the sizes of a domain's networks. DomainProblem: an item has another than those before it."""
    found: set[tuple[int, int]] = set()
    for item, interval in pairs:
        found |= network_sizes([interval])
        if not have_one_size(found):
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
