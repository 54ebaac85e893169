"""What a text looks like: a number's range, an address, a network, a date, or none of them."""

import re

from gitcfg.domain.values import DomainProblem, Kind
from gitcfg.model.names import shown

_NUMBERS = re.compile(r"[-+]?[0-9]+\s*-\s*[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=\s|-|$)")
_ADDRESS_SIGNS = re.compile(r"[0-9A-Fa-f:.]*")
_FOUR = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_AFTER_ADDRESS = ("", " ", "\t", "-", "/", "%")
_OTHER_DASHES = re.compile(r" ?(?:\.\.+|–|—) ?| to ")
_WORDS = re.compile(r"[A-Za-z]-[A-Za-z]|\S+ - \S+")
_WORD = re.compile(r" ?[^\s/]+ ?")


def shape(text: str) -> Kind:
    """What a text was probably meant as, even if something is wrong with it (`10.0.0.300`)."""
    if _NUMBERS.fullmatch(text):
        return Kind.INTEGER
    if _DATE.match(text):
        return Kind.DATE
    if not _begins_with_address(text):
        return Kind.TEXT
    hyphen = text.find("-")
    networks = text.split()[1:2] == ["in"] or "/" in text[: max(hyphen, 0)]
    return Kind.NETWORK if networks else Kind.ADDRESS


def _begins_with_address(text: str) -> bool:
    signs = _ADDRESS_SIGNS.match(text)
    head = signs[0] if signs else ""
    # A time (12:30:45) and a network card (00:16:3e:00:00:01) have colons, too, but fewer.
    six = "::" in head or head.count(":") == 7
    return (six or bool(_FOUR.fullmatch(head))) and text[len(head) :][:1] in _AFTER_ADDRESS


def is_decimal(text: str) -> bool:
    """Is it a number, but for its quotes?"""
    return bool(_DECIMAL.fullmatch(text))


def is_plain(text: str) -> bool:
    """Does an item with this text stand for just this text?"""
    marked = not text or text[0] in "!=" or text != text.strip()
    return not marked and shape(text) is Kind.TEXT and range_of_text(text) is None


def range_of_text(text: str) -> DomainProblem | None:
    """What is wrong with an item of text that looks like a range of something."""
    if problem := misspelt(text):
        return problem
    line = " ".join(text.split())
    ends = line.split("..")
    if _WORDS.fullmatch(line) or (len(ends) == 2 and all(map(_WORD.fullmatch, ends))):
        hint = f"list the values, or write ={shown(line)} for just this text"
        return DomainProblem("text has no ranges", hint=hint)
    return None


def misspelt(text: str) -> DomainProblem | None:
    """What is wrong with a range of something else than text that is written in another way."""
    ends = _OTHER_DASHES.split(" ".join(text.split()), maxsplit=2)
    written = " - ".join(ends)
    if len(ends) != 2 or shape(written) is Kind.TEXT:
        return None
    return DomainProblem("a range has a hyphen between its ends", hint=f"write {shown(written)}")
