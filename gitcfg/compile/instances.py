"""Features installed as instances: `${as}` and `${with.x}` in names and values."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.operations import LACKING
from gitcfg.load.parts import MAX_INSTANCES
from gitcfg.model import Binding, Decision, Feature, Finding, Op, Origin, Use
from gitcfg.model.names import shown
from gitcfg.nodeset import NodeSetError, expand

MAX_TEXT = 1 << 20
_LONGEST_KEY = 1000
_MARK = re.compile(r"\$\$\{|\$\{as\}|\$\{with\.([^{}]*)\}")


class Instance(msgspec.Struct, frozen=True):
    """One instance of a feature: its name, if `as` gave one, and its attributes."""

    name: str | None
    attributes: Mapping[str, Binding]

    @property
    def key(self) -> str:
        """A key that is equal for instances with the same name and attributes."""
        attributes = {
            name: (given.given, given.text, *given.decided) for name, given in sorted(self.attributes.items())
        }
        key = repr((self.name, attributes))
        # Thousands of instances may have the same long text, and each keeps its key.
        long = len(key) > _LONGEST_KEY
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() if long else key


def instance_of(use: Use) -> Instance | None:
    """Return the instance that an entry of a list creates, or None for a plain one."""
    return Instance(use.instance, use.attributes) if use.instance is not None or use.attributes else None


class Substitution:
    """Replaces an instance's marks in a feature; missing attributes are findings.

    A value with a missing attribute is LACKING, also in what is included, where it is not reported again. A
    name with a missing attribute is left out, so that no marks remain.
    """

    def __init__(self, feature: str, instance: Instance) -> None:
        self.feature = feature
        self.instance = instance
        self.findings: list[Finding] = []
        self._decided: dict[Decision, None] = {}
        self._lacking = 0
        self._size = 0

    def bindings(self, params: Mapping[str, Binding]) -> dict[str, Binding]:
        """Return the feature's bindings with the instance's marks replaced."""
        renamed = (self._binding(*each) for each in params.items())
        return {name: bound for name, bound in renamed if name is not None}

    def _binding(self, name: str, bound: Binding) -> tuple[str | None, Binding]:
        """Return a binding with the marks in its name and value replaced, and the decisions in these."""
        self._decided = {}
        made, new = self._known(name, bound.origin), self._bound(bound)
        return made, msgspec.structs.replace(new, decided=tuple(self._decided)) if self._decided else new

    def _bound(self, bound: Binding) -> Binding:
        whole = self._whole(bound.given)
        if whole is not None:
            return msgspec.structs.replace(bound, given=whole.given, text=whole.text)
        before = self._lacking
        given = self._value(bound.given, bound.at)
        if self._lacking > before:
            return msgspec.structs.replace(bound, op=Op.SET, given=LACKING, text=None)
        return msgspec.structs.replace(bound, given=given)

    def uses(self, uses: tuple[Use, ...]) -> tuple[Use, ...]:
        """Return the feature's includes with the marks in `as` and `with` replaced."""
        return tuple(new for use in uses for new in self._use(use))

    def _use(self, use: Use) -> list[Use]:
        attributes = {name: self._binding("", given)[1] for name, given in use.attributes.items()}
        if use.instance is None or "${" not in use.instance:
            return [msgspec.structs.replace(use, attributes=attributes)]
        text = self._known(use.instance, use.origin)
        if text is None:
            return []
        try:
            names = expand(text, MAX_INSTANCES)
        except NodeSetError as error:
            message = f"{shown(text)!r} names no instances: {error}."
            self.findings.append(Finding("GC103", (text,), message, (use.origin,)))
            return []
        return [Use(use.feature, use.origin, name, attributes) for name in names]

    def text(self, text: str, origin: Origin) -> str:
        """Return a text with its marks replaced."""
        if "${" not in text:
            return text
        return _MARK.sub(lambda mark: self._mark(mark, origin), text)

    def _known(self, text: str, origin: Origin) -> str | None:
        """Return a text with its marks replaced; None if any of them cannot be."""
        before = self._lacking
        found = self.text(text, origin)
        return found if self._lacking == before else None

    def _value(self, value: Any, origin: Origin) -> Any:
        if isinstance(value, str):
            return self.text(value, origin)
        if isinstance(value, list):
            return [self._value(item, origin) for item in value]
        if isinstance(value, dict):
            return {self.text(key, origin): self._value(item, origin) for key, item in value.items()}
        return value

    def _whole(self, value: Any) -> Binding | None:
        """Return the list or map of an attribute that is the whole value.

        Other attributes are inserted as text.
        """
        mark = _MARK.fullmatch(value) if isinstance(value, str) else None
        attribute = self.instance.attributes.get(mark[1]) if mark and mark[1] else None
        if attribute is None or not isinstance(attribute.given, list | dict):
            return None
        self._decided.update(dict.fromkeys(attribute.decided))
        return attribute

    def _mark(self, mark: re.Match[str], origin: Origin) -> str:
        if mark[0] == "$${":
            return "${"
        if mark[1] is None:
            return mark[0] if self.instance.name is None else self._bounded(self.instance.name, mark, origin)
        attribute = self.instance.attributes.get(mark[1])
        if attribute is None or attribute.given is LACKING:
            self._lacking += 1
            if attribute is None:
                self._missing(mark[1], origin)
            return mark[0]
        self._decided.update(dict.fromkeys(attribute.decided))
        return self._bounded(_written(attribute) if self._size <= MAX_TEXT else "", mark, origin)

    def _bounded(self, text: str, mark: re.Match[str], origin: Origin) -> str:
        """Return the text for a mark, unless all inserted texts together are too large."""
        self._size += len(text)
        if self._size <= MAX_TEXT:
            return text
        self._lacking += 1
        self._too_large(mark[1] or "as", origin)
        return mark[0]

    def _too_large(self, attribute: str, origin: Origin) -> None:
        name = "" if self.instance.name is None else f" {shown(self.instance.name)}"
        message = f"The instance{name} of {self.feature} adds more than 1 MiB of text."
        hint = "Texts that contain each other double with every include."
        found = Finding("GC105", (attribute,), message, (origin,), hint=hint)
        if found not in self.findings:
            self.findings.append(found)

    def _missing(self, attribute: str, origin: Origin) -> None:
        name = "" if self.instance.name is None else f" {shown(self.instance.name)}"
        message = f"The instance{name} of {self.feature} has no attribute {shown(attribute)}."
        hint = f"Set it under `with:` where {self.feature} is installed."
        self.findings.append(Finding("GC201", (attribute,), message, (origin,), hint=hint))


def known_attributes(attributes: Mapping[str, Binding]) -> dict[str, Binding]:
    """Return the attributes of an instance that have values."""
    return {name: given for name, given in attributes.items() if given.given is not LACKING}


def _written(attribute: Binding) -> str:
    if attribute.text is not None:
        return attribute.text
    given = attribute.given
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()


def has_marks(value: Any) -> bool:
    """Return whether a value, or a feature, has marks that only an instance replaces."""
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, Feature):
        return has_marks(_marked_parts(value))
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(has_marks, items))


def _marked_parts(feature: Feature) -> list[Any]:
    """Return the parts of a feature in which marks are replaced."""
    given = [use.instance for use in feature.include]
    given += [bound.given for use in feature.include for bound in use.attributes.values()]
    return [*given, *feature.params, *(bound.given for bound in feature.params.values())]


def find_attributes(feature: Feature) -> set[str]:
    """Return the attributes that a feature reads of its instances."""
    return find_marked(_marked_parts(feature))


def find_marked(value: Any) -> set[str]:
    """Return the attributes in the marks of a value, or of a name."""
    return {mark[1] for text in _texts(value) for mark in _MARK.finditer(text) if mark[1]}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    items = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _texts(item)


def instantiate(feature: Feature, instance: Instance) -> tuple[Feature, list[Finding]]:
    """Return the feature with the instance's marks replaced, and the findings about that."""
    substitution = Substitution(feature.name, instance)
    params = substitution.bindings(feature.params)
    include = substitution.uses(feature.include)
    return msgspec.structs.replace(feature, params=params, include=include), substitution.findings
