"""The parser of domains: `1024-65535, not 8080`, networks, dates, names."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from gitcfg.domain.addresses import have_one_size, network_sizes, overlapping_networks
from gitcfg.domain.intervals import Interval, difference, merged, parse_integer, touches
from gitcfg.domain.sets import CODECS, Spans, make_words
from gitcfg.domain.values import DomainProblem, Kind, Values, is_decimal, misspelt, range_of_text, shape
from gitcfg.model.names import shown

LONGEST_ITEM = 4000
"""The most characters of an item."""

_NAMES = {bool: "a boolean", list: "a list", dict: "a map", type(None): "nothing"}


class Item(msgspec.Struct, frozen=True, gc=False):
    """One item of a domain, without the signs in front of its text, which starts after `columns` columns.

    `excluded`: an exclamation mark preceded it. `exact`: an equals sign did. `number`: YAML gave a number.
    """

    index: int
    text: str
    columns: int = 0
    excluded: bool = False
    exact: bool = False
    number: bool = False

    @property
    def shape(self) -> Kind:
        """The kind that the item looks like."""
        if self.number:
            return Kind.INTEGER
        return Kind.TEXT if self.exact else shape(self.text)

    def problem(self, message: str, hint: str = "") -> DomainProblem:
        """Return an error about the item as a whole."""
        return DomainProblem(message, 1 + self.columns, hint, self.index)


def _read_item(index: int, given: object) -> Item:
    """Return the item for a value of YAML.

    Raise DomainProblem if it is neither an integer nor text, or is too long.
    """
    if isinstance(given, str):
        return _read_text(index, given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        message = f"an item is a number or text, not {_NAMES.get(type(given), 'this')}"
        raise DomainProblem(message, hint="write whole numbers, or text in quotes", index=index)
    if isinstance(given, float):
        hint = "put it in quotes if it is text"
        raise DomainProblem(f"{given} is not a whole number", hint=hint, index=index)
    try:
        return Item(index, str(parse_integer(given)), number=True)
    except DomainProblem as problem:
        raise problem.moved(0, index) from None


def _read_text(index: int, given: str) -> Item:
    text = given.lstrip()
    excluded = text.startswith("!")
    text = text[1:].lstrip() if excluded else text
    exact = text.startswith("=")
    text = text[1:] if exact else text.rstrip()
    columns = len(given.rstrip()) - len(text.rstrip())
    item = Item(index, text, columns, excluded, exact)
    if not text and not exact:
        raise item.problem("the item is empty", 'write "=" for the empty text')
    if len(text) > LONGEST_ITEM:
        message = f"an item has {LONGEST_ITEM} characters at most, this one {len(text)}"
        raise item.problem(message, "shorten it")
    return item


# The kind of a domain's values: from its parameter's type, or from what its items look like.

_KINDS = {
    "integer": Kind.INTEGER,
    "number": Kind.INTEGER,
    "expression": Kind.TEXT,
    "path": Kind.TEXT,
}
_ONE_KIND = "a domain has values of one kind; text that looks like another begins with ="


def _find_kind(items: Sequence[Item], type: str | None) -> Kind:
    """Return the kind of all items; at least one must not be an exclusion.

    Raise DomainProblem if an item is of another kind, or if a parameter of the type cannot have a domain.
    """
    if type not in _KINDS and type not in ("string", None):
        known = "integer, number, string, path and expression"
        raise DomainProblem(
            f"a parameter of type {shown(type)} has no domain", hint=f"parameters of type {known} have"
        )
    if type not in _KINDS:
        return _infer_kind(items, type)
    for item in items:
        _check_kind(item, _KINDS[type])
    return _KINDS[type]


def _check_kind(item: Item, kind: Kind) -> None:
    """Raise DomainProblem if an item contradicts the kind that its parameter's type requires."""
    if kind is Kind.TEXT and item.number:
        raise item.problem(f"{item.text} is a number, but the parameter is text", "put it in quotes")
    if kind is Kind.INTEGER and item.exact:
        raise item.problem("an equals sign is for text, but the parameter is a number", "remove it")


def _infer_kind(items: Sequence[Item], type: str | None) -> Kind:
    networks = (item for item in items if item.shape is Kind.NETWORK)
    first = next(networks, next(item for item in items if not item.excluded))
    kind = first.shape
    for item in items:
        if type == "string":
            _check_kind(item, Kind.TEXT)
        if type == "string" and item.shape is Kind.INTEGER:
            hint = f"declare the parameter an integer, or write ={shown(item.text)} for just this text"
            raise item.problem("this is a range of numbers, but the parameter is text", hint)
        if not _looks_like(item, kind):
            quoted = kind is Kind.INTEGER and is_decimal(item.text)
            raise item.problem(
                f"'{shown(item.text)}' is {item.shape.one}, and '{shown(first.text)}' {kind.one}",
                "remove its quotes" if quoted else _ONE_KIND,
            )
        if kind is Kind.TEXT and not item.exact and (problem := range_of_text(item.text)):
            raise problem.moved(item.columns, item.index)
    return kind


def _looks_like(item: Item, kind: Kind) -> bool:
    """Return whether an item looks like a kind.

    Addresses may be excluded from networks. A single number after an exclamation mark is text to YAML, so it
    may be excluded from integers.
    """
    if kind is Kind.NETWORK and item.shape is Kind.ADDRESS:
        return True
    return item.shape is kind or (kind is Kind.INTEGER and item.excluded and is_decimal(item.text))


# From a domain's items to its set of values.

MOST_ITEMS = 10_000
"""The most items of a domain."""

_Read = TypeVar("_Read")


def parse(items: Sequence[object], type: str | None = None) -> Values:
    """Return the set of values of items: integers and text, as YAML gives them; `!` begins an exclusion.

    `type` is the parameter's declared type; where it is None or `string`, the kind follows from what the
    items look like. docs/domains.md lists what may be written. Time and space grow with the number of items,
    not of values. Raise DomainProblem if an item is wrong, there are too many, or they leave no value.
    """
    if not items:
        raise DomainProblem("the domain is empty", hint="list the values that are allowed")
    if len(items) > MOST_ITEMS:
        message = f"a domain has {MOST_ITEMS} items at most, this one {len(items)}"
        raise DomainProblem(message, hint="write ranges", index=MOST_ITEMS)
    read = [_read_item(index, given) for index, given in enumerate(items)]
    included = [item for item in read if not item.excluded]
    if not included:
        raise read[0].problem("there are only exclusions", "list first what they exclude from")
    kind = _find_kind(read, type)
    excluded = [item for item in read if item.excluded]
    found = _parse_words(included, excluded) if kind is Kind.TEXT else _parse_spans(kind, included, excluded)
    if not found:
        raise excluded[-1].problem("nothing is left: every value is excluded", "remove an exclusion")
    return found


def _parse_words(included: Iterable[Item], excluded: Iterable[Item]) -> Values:
    found = make_words(item.text for item in included)
    for item in excluded:
        if item.text not in found:
            raise _excludes_nothing(item)
    return found - make_words(item.text for item in excluded)


def _parse_spans(kind: Kind, included: Sequence[Item], excluded: Sequence[Item]) -> Spans:
    read = CODECS[kind].read
    pairs = [(item, _read_placed(read, item)) for item in included]
    if kind is Kind.NETWORK:
        sizes = _network_sizes(pairs)
        cuts = [_read_placed(lambda text: overlapping_networks(text, sizes), item) for item in excluded]
    else:
        cuts = [[_read_placed(read, item)] for item in excluded]
    found = merged(interval for _, interval in pairs)
    for item, cut in zip(excluded, cuts, strict=True):
        if not any(touches(found, *interval) for interval in cut):
            raise _excludes_nothing(item)
    return Spans(kind, difference(found, merged(chain.from_iterable(cuts))))


def _network_sizes(pairs: Iterable[tuple[Item, Interval]]) -> set[tuple[int, int]]:
    """Return the sizes of a domain's networks.

    Raise DomainProblem if an item's size differs from that of the items before it.
    """
    found: set[tuple[int, int]] = set()
    for item, interval in pairs:
        found |= network_sizes([interval])
        if not have_one_size(found):
            hint = "write a domain for each length: networks of two lengths overlap"
            raise item.problem("the networks of a domain have one length", hint)
    return found


def _read_placed(read: Callable[[str], _Read], item: Item) -> _Read:
    """Return the result of `read` for an item's text.

    Raise DomainProblem with the item's place if it fails.
    """
    try:
        return read(item.text)
    except DomainProblem as problem:
        raise (misspelt(item.text) or problem).moved(item.columns, item.index) from None


def _excludes_nothing(item: Item) -> DomainProblem:
    return item.problem(
        f"'{shown(item.text)}' excludes nothing: no other item allows it", "correct or remove it"
    )
