"""YAML: libyaml says whether a text parses, and its plain scalars are read as YAML 1.2 reads them.

A composer is no use here: it ends the process where a hostile text nests deep; events do not.
"""

from collections.abc import Iterator
from typing import Any

from gitcfg.load import yaml
from gitcfg.load.scalars import resolve
from gitcfg.parsers.child.nested import Strange, differences, once
from gitcfg.parsers.child.said import Meant, Said

_NOT_PLAIN = "it holds more than one document of plain values"


def judge(text: str, meant: Meant | None) -> Iterator[Said]:
    """What is wrong with a text. One that gitcfg did not write may be several documents, with tags."""
    try:
        if meant is None:
            for _ in yaml.events(text):
                pass
            return
        found = _read(text)
    except yaml.YAMLError as error:
        reason, line, column = yaml.complaint(error)
        yield Said(f"is no YAML at line {line}, column {column}: {reason}", line)
    except Strange as error:
        yield Said(f"is not what gitcfg writes: {error}")
    else:
        yield from differences(found, meant.values)


def _read(text: str) -> Any:
    """The one document's value."""
    _, *events, _ = yaml.events(text)
    if not events:
        raise Strange(_NOT_PLAIN)
    within = iter(events[1:])
    value = _value(next(within), within)
    if len(list(within)) != 1:
        raise Strange(_NOT_PLAIN)
    return value


def _value(event: Any, events: Iterator[Any]) -> Any:
    if event.anchor is not None or getattr(event, "tag", None) is not None:
        raise Strange("it holds anchors, aliases or tags")
    if type(event) is yaml.ScalarEvent:
        return resolve(event.value) if event.implicit[0] else event.value
    if type(event) is yaml.MappingStartEvent:
        return once(
            [(_key(key), _value(next(events), events)) for key in _until(events, yaml.MappingEndEvent)]
        )
    return [_value(item, events) for item in _until(events, yaml.SequenceEndEvent)]


def _key(event: Any) -> str:
    if type(event) is not yaml.ScalarEvent:
        raise Strange("it holds a key that is no text")
    key: str = event.value
    return key


def _until(events: Iterator[Any], end: type) -> Iterator[Any]:
    for event in events:
        if type(event) is end:
            return
        yield event
