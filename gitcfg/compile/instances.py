"""Features installed as instances: `${as}` and `${with.x}` in names and values."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.model import Binding, Decision, Feature, Finding, Origin, Use
from gitcfg.model.names import shown
from gitcfg.nodeset import NodeSetError, expand

MAX_INSTANCES = 10_000
_MARK = re.compile(r"\$\$\{|\$\{as\}|\$\{with\.([^{}]*)\}")


class Instance(msgspec.Struct, frozen=True):
    """One instance of a feature: its name, if `as` gave one, and its attributes."""

    name: str | None
    attributes: Mapping[str, Binding]

    @property
    def key(self) -> str:
        """Equal for instances that say the same."""
        attributes = {
            name: (given.given, given.text, *given.decided) for name, given in sorted(self.attributes.items())
        }
        return repr((self.name, attributes))


def instance_of(use: Use) -> Instance | None:
    """The instance that a use in a list makes, None for a plain one."""
    return Instance(use.instance, use.attributes) if use.instance is not None or use.attributes else None


class Substitution:
    """Replaces an instance's marks in a feature; attributes that it has not are findings."""

    def __init__(self, feature: str, instance: Instance) -> None:
        self.feature = feature
        self.instance = instance
        self.findings: list[Finding] = []
        self._decided: dict[Decision, None] = {}

    def bindings(self, params: Mapping[str, Binding]) -> dict[str, Binding]:
        """The feature's bindings as this instance says them."""
        return dict(self._binding(*said) for said in params.items())

    def _binding(self, name: str, bound: Binding) -> tuple[str, Binding]:
        """A binding whose name and value are the instance's, with what was decided for those."""
        self._decided = {}
        made, whole = self.text(name, bound.origin), self._whole(bound.given)
        if whole is not None:
            new = msgspec.structs.replace(bound, given=whole.given, text=whole.text)
        else:
            new = msgspec.structs.replace(bound, given=self._value(bound.given, bound.at))
        return made, msgspec.structs.replace(new, decided=tuple(self._decided)) if self._decided else new

    def uses(self, uses: tuple[Use, ...]) -> tuple[Use, ...]:
        """The feature's includes, their `as` and `with` as this instance says them."""
        return tuple(new for use in uses for new in self._use(use))

    def _use(self, use: Use) -> list[Use]:
        attributes = {name: self._binding("", given)[1] for name, given in use.attributes.items()}
        if use.instance is None or "${" not in use.instance:
            return [msgspec.structs.replace(use, attributes=attributes)]
        text = self.text(use.instance, use.origin)
        try:
            names = expand(text, MAX_INSTANCES)
        except NodeSetError as error:
            message = f"{shown(text)!r} names no instances: {error}."
            self.findings.append(Finding("GC103", (text,), message, (use.origin,)))
            return []
        return [Use(use.feature, use.origin, name, attributes) for name in names]

    def text(self, text: str, origin: Origin) -> str:
        """A text with its marks replaced."""
        if "${" not in text:
            return text
        return _MARK.sub(lambda mark: self._mark(mark, origin), text)

    def _value(self, value: Any, origin: Origin) -> Any:
        if isinstance(value, str):
            return self.text(value, origin)
        if isinstance(value, list):
            return [self._value(item, origin) for item in value]
        if isinstance(value, dict):
            return {self.text(key, origin): self._value(item, origin) for key, item in value.items()}
        return value

    def _whole(self, value: Any) -> Binding | None:
        """The list or map that is all of a value: anything else is replaced as text."""
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
            return mark[0] if self.instance.name is None else self.instance.name
        attribute = self.instance.attributes.get(mark[1])
        if attribute is None:
            self._missing(mark[1], origin)
            return mark[0]
        self._decided.update(dict.fromkeys(attribute.decided))
        return _written(attribute)

    def _missing(self, attribute: str, origin: Origin) -> None:
        name = "" if self.instance.name is None else f" {shown(self.instance.name)}"
        message = f"The instance{name} of {self.feature} has no attribute {shown(attribute)}."
        hint = f"Give it under `with:` where {self.feature} is installed."
        self.findings.append(Finding("GC201", (attribute,), message, (origin,), hint=hint))


def _written(attribute: Binding) -> str:
    if attribute.text is not None:
        return attribute.text
    given = attribute.given
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()


def marked(value: Any) -> bool:
    """Does a value, or a feature, hold marks that only an instance replaces?"""
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, Feature):
        given = [use.instance for use in value.include]
        given += [bound.given for use in value.include for bound in use.attributes.values()]
        return marked([*given, *value.params, *(bound.given for bound in value.params.values())])
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(marked, items))


def instantiated(feature: Feature, instance: Instance) -> tuple[Feature, list[Finding]]:
    """The feature as the instance says it, and what was wrong with that."""
    substitution = Substitution(feature.name, instance)
    params = substitution.bindings(feature.params)
    include = substitution.uses(feature.include)
    return msgspec.structs.replace(feature, params=params, include=include), substitution.findings
