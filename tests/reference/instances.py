"""Lists of features: plain names, and instances with their attributes."""

import re
from typing import NamedTuple

from tests.reference.nodesets import expand
from tests.reference.yaml12 import Plain, Raw

_MENTION = re.compile(r"\$\$\{|\$\{as\}|\$\{with\.([^}]+)\}")


class Use(NamedTuple):
    """A feature, and as which instance. Without `name` it is no instance."""

    feature: str
    name: str | None = None
    attributes: dict[str, str] = {}  # noqa: RUF012


def uses(entries: list[Raw], outer: Use | None = None) -> list[Use]:
    """What a list of features stands for; an instance's own lists may mention what it was given."""
    return [use for entry in entries for use in _entry(entry, outer)]


def _entry(entry: Raw, outer: Use | None) -> list[Use]:
    if isinstance(entry, str):
        return [Use(entry)]
    given = {key: text(said) for key, said in filled(entry.get("with", {}), outer).items()}
    names = expand(filled(entry["as"], outer)) if "as" in entry else [None]
    return [Use(entry["feature"], name, given) for name in names]


def text(raw: Raw) -> str:
    """A scalar as it was written."""
    return raw.text if isinstance(raw, Plain) else str(raw)


def filled(raw: Raw, use: Use | None) -> Raw:
    """A text, or all texts in a value, with the instance's name and attributes in their places."""
    if use is None or (use.name is None and not use.attributes):
        return raw
    if isinstance(raw, str):
        return _MENTION.sub(lambda found: _replacement(found, use), raw)
    if isinstance(raw, list):
        return [filled(item, use) for item in raw]
    if isinstance(raw, dict):
        return {filled(key, use): filled(item, use) for key, item in raw.items()}
    return raw


def _replacement(found: re.Match[str], use: Use) -> str:
    if found[0] == "$${":
        return "${"
    if found[0] == "${as}":
        return found[0] if use.name is None else use.name
    return use.attributes.get(found[1], found[0])
