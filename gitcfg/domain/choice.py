"""What kind of values a domain is about: as its parameter's type says, or as its items look."""

from collections.abc import Sequence

from gitcfg.domain.item import Item
from gitcfg.domain.kinds import Kind
from gitcfg.domain.problem import DomainProblem
from gitcfg.domain.shapes import is_decimal, range_of_text
from gitcfg.model.names import shown

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
