"""Requests and verdicts as plain data, and parsers for JSON, TOML, INI and YAML.

For YAML only libyaml's events are used: a hostile text that nests deep would end the process in its composer.
"""

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO, TextIOWrapper
from typing import Any, NamedTuple, NoReturn

from gitcfg.compile.values import split_list
from gitcfg.load import yaml
from gitcfg.load.yaml import resolve


class Meant(NamedTuple):
    """What a text was rendered from: values by parameter, and the separators of those that are lists."""

    values: Mapping[str, Any]
    separators: Mapping[str, str | None]


class RawVerdict(NamedTuple):
    """One objection of a parser to a text; see `gitcfg.check.target_parsers.Verdict`."""

    reason: str
    line: int = 0
    params: tuple[str, ...] = ()
    hint: str = ""
    grave: bool = True


def otherwise(name: str, read: object, value: object) -> RawVerdict:
    """Return the verdict for a parameter that is read as another value."""
    return RawVerdict(f"is read with {name} as {quoted(read)} instead of {quoted(value)}", params=(name,))


def left_out(name: str) -> RawVerdict:
    """Return the verdict for a parameter that is not read at all."""
    return RawVerdict(f"is read without {name}, which should be in it", params=(name,))


def not_meant(name: str) -> RawVerdict:
    """Return the verdict for something that is read but was never written."""
    return RawVerdict(f"is read with {quoted(name)}, which should not be in it")


def quoted(value: object, most: int = 60) -> str:
    """Return a value as a message quotes it: on one line, and shortened."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


# Whether what is read equals what was meant.


def means(read: str, value: Any, separator: str | None) -> bool:
    """Return whether a text means a value. Lists are split again; booleans may have any case."""
    if not isinstance(value, list):
        return _scalar(read, value)
    items = split_list(read, separator or "comma")
    return len(items) == len(value) and all(map(_scalar, items, value))


def _scalar(read: str, value: Any) -> bool:
    if isinstance(value, bool):
        return read.lower() == str(value).lower()
    return read == (value if isinstance(value, str) else repr(value))


# INI files, by Python's own parser. Names before the first section have no section.

_FIRST = "first section"  # no section's name has a space
_HEAD = f"[{_FIRST}]\n".encode()


def judge_ini(text: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield what is wrong with a text in INI."""
    try:
        found = _read(text)
    except configparser.Error as error:
        line = getattr(error, "lineno", None) or next(iter(getattr(error, "errors", ())), [1])[0]
        said = " ".join(str(error).partition("\n")[0].split())
        yield RawVerdict(f"is not valid INI at line {max(line - 1, 1)}: {said}", max(line - 1, 1))
    else:
        if meant is not None:
            yield from flat_differences(found, meant)


def _read(text: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=True, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    # As a file is read: any of the three line ends counts.
    parser.read_file(TextIOWrapper(BytesIO(_HEAD + text.encode()), encoding="utf-8"))
    sections = {"DEFAULT": parser.defaults(), **{name: parser[name] for name in parser.sections()}}
    return {
        key if section == _FIRST else f"{section}.{key}": value
        for section, found in sections.items()
        for key, value in found.items()
    }


def flat_differences(
    found: dict[str, str],
    meant: Meant,
    key: Callable[[str], str] = str,
    also: Callable[[str, str, Any], bool] = lambda read, name, value: False,
) -> Iterator[RawVerdict]:
    """Yield the differences in a file without levels, in which a name is found by its `key`.

    `also` is called with the text read, the name and the value. It returns whether the difference is
    acceptable.
    """
    for name, value in meant.values.items():
        read = found.pop(key(name), None)
        if read is None:
            yield left_out(name)
        elif not (means(read, value, meant.separators.get(name)) or also(read, name, value)):
            yield otherwise(name, read, value)
    yield from map(not_meant, found)


# Differences between nested data that a parser reads and what was meant; dots in names are levels.


class Strange(ValueError):
    """A text that a parser may accept, but that no format of gitcfg writes."""


def differences(found: Any, values: Mapping[str, Any]) -> Iterator[RawVerdict]:
    """Yield what is read as another value, what is not read, and what is read but was not meant."""
    if not isinstance(found, dict):
        yield RawVerdict("is not a map")
        return
    for name, value in values.items():
        *folders, key = name.split(".")
        place = _place(found, folders)
        if place is None or key not in place:
            yield left_out(name)
        elif not same(read := place.pop(key), value):
            yield otherwise(name, read, value)
    yield from map(not_meant, _left(found, ""))


def _place(found: Any, folders: list[str]) -> dict[str, Any] | None:
    for folder in folders:
        found = found.get(folder) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _left(found: dict[str, Any], before: str) -> Iterator[str]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _left(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def same(read: Any, value: Any) -> bool:
    """Return whether two values are equal, and of the same types at every level."""
    if type(read) is not type(value):
        return False
    if isinstance(value, dict):
        return read.keys() == value.keys() and all(same(read[key], value[key]) for key in value)
    if isinstance(value, list):
        return len(read) == len(value) and all(map(same, read, value))
    return bool(read == value)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a map of pairs. Raise Strange if a key occurs twice: readers differ in which one they use."""
    result = dict(pairs)
    if len(result) < len(pairs):
        raise Strange("a key occurs twice in one map")
    return result


# JSON, by Python's own parser.


def judge_json(text: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield what is wrong with a text in JSON."""
    try:
        found = json.loads(text, object_pairs_hook=once if meant else None, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        yield RawVerdict(
            f"is not valid JSON at line {error.lineno}, column {error.colno}: {error.msg}", error.lineno
        )
    except Strange as error:
        yield RawVerdict(f"is not what gitcfg writes: {error}")
    except ValueError as error:
        yield RawVerdict(f"is not valid JSON: {error}")
    except RecursionError:
        yield RawVerdict("nests too deep")
    else:
        if meant is not None:
            yield from differences(found, meant.values)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number there")


# TOML 1.0, by Python's own parser.

_LINE = re.compile(r" \(at line (\d+), column \d+\)\Z")


def judge_toml(text: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield what is wrong with a text in TOML."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        where = f" at line {place[1]}" if place else ""
        yield RawVerdict(
            f"is not valid TOML{where}: {_LINE.sub('', str(error))}", int(place[1]) if place else 0
        )
    except RecursionError:
        yield RawVerdict("nests too deep")
    else:
        if meant is not None:
            yield from differences(found, meant.values)


# YAML: libyaml decides whether a text parses; its plain scalars are resolved as in YAML 1.2.

_NOT_PLAIN = "it has more than one document"


def judge_yaml(text: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield what is wrong with a text in YAML.

    A text that gitcfg did not write may have several documents, and tags.
    """
    try:
        if meant is None:
            for _ in yaml.events(text):
                pass
            return
        found = _read_yaml(text)
    except yaml.YAMLError as error:
        reason, line, column = yaml.complaint(error)
        yield RawVerdict(f"is not valid YAML at line {line}, column {column}: {reason}", line)
    except Strange as error:
        yield RawVerdict(f"is not what gitcfg writes: {error}")
    else:
        yield from differences(found, meant.values)


def _read_yaml(text: str) -> Any:
    """Return the value of the only document. Raise Strange if there are several."""
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
        raise Strange("it contains anchors, aliases or tags")
    if type(event) is yaml.ScalarEvent:
        return resolve(event.value) if event.implicit[0] else event.value
    if type(event) is yaml.MappingStartEvent:
        return once(
            [(_key(key), _value(next(events), events)) for key in _until(events, yaml.MappingEndEvent)]
        )
    return [_value(item, events) for item in _until(events, yaml.SequenceEndEvent)]


def _key(event: Any) -> str:
    if type(event) is not yaml.ScalarEvent:
        raise Strange("it contains a key that is not text")
    key: str = event.value
    return key


def _until(events: Iterator[Any], end: type) -> Iterator[Any]:
    for event in events:
        if type(event) is end:
            return
        yield event
