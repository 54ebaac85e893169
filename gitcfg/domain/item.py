"""One item of a domain, before it is known what kind of values it is about."""

import msgspec

from gitcfg.domain import integers
from gitcfg.domain.kinds import Kind
from gitcfg.domain.problem import DomainProblem
from gitcfg.domain.shapes import shape

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
        return Item(index, str(integers.number(given)), number=True)
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
