"""What people tell each other in definitions, which no node gets: descriptions, reasons, and the like."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from gitcfg.model import Feature, Group, Model, Node, Origin, Parameter, Rule, Subsystem
from gitcfg.model.age import is_recipient
from gitcfg.model.secrets import may_hold_key


class Prose(msgspec.Struct, frozen=True, gc=False):
    """A text of a definition: `what` it is goes before the name of the subject."""

    what: str
    subject: str
    text: str
    origin: Origin


def prose(model: Model) -> Iterator[Prose]:
    """Such texts that may hold a private key, and what else of a definition is no value of a node's."""
    hosts = ((one.definition, "node set") for one in model.nodesets.values())
    yield from _described(
        chain(
            ((one, "parameter") for one in model.parameters.values()),
            ((one, "subsystem") for one in model.subsystems.values()),
            ((one, "feature") for one in model.features.values()),
            ((one, "group") for one in model.groups.values()),
            ((one, "node") for one in model.nodes.values()),
            hosts,
            ((one, "rule") for one in model.rules.values()),
        )
    )
    yield from _beside(model)
    for parameter in model.parameters.values():
        yield from _schema(parameter)
    for subsystem in model.subsystems.values():
        yield from _commands(subsystem)


_Described = Parameter | Subsystem | Feature | Group | Node | Rule


def _described(found: Iterable[tuple[_Described, str]]) -> Iterator[Prose]:
    for one, noun in found:
        if may_hold_key(one.description):  # a fleet of 10,000 nodes has as many descriptions
            yield Prose(f"The description of the {noun}", one.name, one.description, one.origin)


def _beside(model: Model) -> Iterator[Prose]:
    """What is said of overrides, holds and secrets; of a recipient what stands behind the key."""
    for override in model.overrides.values():
        yield Prose("The reason of the override", override.name, override.reason, override.origin)
    for hold in model.holds.values():
        yield Prose("The reason of the hold", hold.name, hold.reason, hold.origin)
    for rule in model.rules.values():
        yield Prose("The message of the rule", rule.name, rule.message, rule.origin)
    for secret in model.secrets.values():
        yield Prose("The description of the secret", secret.name, secret.description, secret.origin)
        for ref in secret.recipients:
            if is_recipient(ref.name):  # of what is none that is told already (GC210)
                yield Prose("A recipient of the secret", secret.name, ref.name, ref.origin)


def _schema(parameter: Parameter) -> Iterator[Prose]:
    """A schema has descriptions, examples and permitted values of its own."""
    for text in _texts(parameter.schema):
        place = parameter.schema_origin or parameter.origin
        yield Prose("The schema of the parameter", parameter.name, text, place)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        yield from chain.from_iterable(map(_texts, value.values() if isinstance(value, dict) else value))


def _commands(subsystem: Subsystem) -> Iterator[Prose]:
    for word in chain.from_iterable(words for _, words in subsystem.commands()):
        yield Prose("A command of the subsystem", subsystem.name, word, subsystem.origin)
