"""What a search must not show: secrets in plain text, which findings show nobody either."""

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.excerpt import Hit
from gitcfg.explain.written import Written
from gitcfg.model.age import is_recipient
from gitcfg.model.secrets import PLAIN, lines_of_keys, open_mark

_MARK = re.compile(r"\$\{[^{}]*\}")
_ATTRIBUTE = re.compile(r"\$\{with\.([^{}]*)\}")
_AROUND = " \t-,:[]{}'\""

Place = tuple[int, int]


class Veil:
    """Knows the secrets that stand in plain text in the files of a fleet's definitions."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def over(self, text: str, found: Iterable[Written]) -> "Veiled":
        """The same of one file, in which all this is written."""
        secret = tuple(filter(self._secret, found))
        lines = text.split("\n")
        hidden = lines_of_keys(text).union(*(_lines(lines, one) for one in secret))
        return Veiled(frozenset(one.start for one in secret), hidden)

    def _secret(self, one: Written) -> bool:
        """Is something that is written a secret in plain text, or a part of one?"""
        parameters = self._fleet.model.parameters
        match one.path:
            case (
                ("params", str(name), *inside)
                | ("rules", str(), "set" | "domain", str(name), *inside)
                | ("values", str(), str(name), *inside)
            ):
                kept = inside[:1] != ["$secret"] and bool(inside or not one.key) and self._kept(name)
            case ("parameters", str(name), "default", *_):
                kept = name in parameters and parameters[name].secret
            case ("recipients", int()):
                kept = not is_recipient(one.text)
            case _:
                kept = "with" in one.path and self._given(one)
        return kept or bool(open_mark(one.text))

    def _kept(self, name: str) -> bool:
        """Is a parameter secret, or one that an instance may make of a name?"""
        secret = self._fleet.declarations.secret
        if "${" not in name:
            return secret(name)
        made = re.compile(".+".join(map(re.escape, _MARK.split(name))))
        every = self._fleet.model.parameters.values()
        return secret(_MARK.sub("1", name)) or any(one.secret and made.fullmatch(one.name) for one in every)

    def _given(self, one: Written) -> bool:
        """Is it an attribute of an instance that a feature writes into a secret parameter?"""
        inside = one.path[one.path.index("with") + 1 :]
        return bool(inside[1:] or not one.key) and inside[0] in self._attributes

    @cached_property
    def _attributes(self) -> Set[str | int]:
        return frozenset(
            name
            for feature in self._fleet.model.features.values()
            for param, binding in feature.params.items()
            if "${with." in str(binding.given) and self._kept(param)
            for name in _ATTRIBUTE.findall(str(binding.given))
        )


class Veiled:
    """Where secrets in plain text begin in a file, and the lines in which they stand."""

    def __init__(self, places: Set[Place], lines: Set[int]) -> None:
        self._places = places
        self._lines = lines

    def told(self, one: Written, hits: Iterable[Hit]) -> Iterator[Hit]:
        """What may be told of the places where something is found in a name or value.

        Of a secret only where it begins: else it would be told how much of it was guessed.
        """
        if one.start in self._places:
            yield Hit(*one.start, PLAIN, (), veiled=True)
            return
        for hit in hits:
            yield Hit(hit.line, hit.column, PLAIN, ()) if hit.line in self._lines else hit


def veiled(text: str, hits: Iterable[Hit]) -> Iterator[Hit]:
    """The same of a text that is no definitions: a template, a file."""
    keys = lines_of_keys(text)
    for hit in hits:
        yield Hit(hit.line, 1, PLAIN, (), veiled=True) if hit.line in keys else hit


def _lines(lines: list[str], one: Written) -> range:
    """The lines in which something stands: not the next one's, if there is nothing of it before that."""
    (first, _), (last, end) = one.start, one.end
    if last > len(lines) or not lines[last - 1][: end - 1].strip(_AROUND):
        last = min(last - 1, len(lines))
    return range(first, max(first, last) + 1)
