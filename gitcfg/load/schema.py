"""JSON Schemas: documents and values are validated, and errors explained in the terms of YAML."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import msgspec

from gitcfg.bundled import read_schema
from gitcfg.model.names import did_you_mean, shown

_KINDS = {
    "string": "text",
    "object": "a mapping",
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "null",
}


class Problem(msgspec.Struct, frozen=True):
    """One error: `path` leads to the value, or to the key at its end if `key`."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""
    key: bool = False


def describe_error(error: Any) -> Iterator[Problem]:
    """Yield the problems that a validation error of jsonschema means."""
    path = tuple(error.absolute_path)
    words = _WORDS.get(error.validator)
    if error.validator == "additionalProperties":
        yield from _unknown(path, error)
    elif error.validator == "oneOf":
        keys = _or([choice["required"][0] for choice in error.validator_value])
        yield Problem(path, f"One of {keys} must be set, and only one.")
    elif error.validator == "not" and not error.validator_value:
        yield Problem(
            path, f"{_name(path)} is not allowed here.", error.schema.get("description", ""), key=True
        )
    elif words is None:
        yield Problem(path, f"{_name(path)} does not fit: {shown(error.message)}.")
    else:
        message, hint = words(error)
        yield Problem(path, f"{_name(path)} {message}.", hint)


def _name(path: tuple[str | int, ...]) -> str:
    """Return the name of the value at a path for messages."""
    if not path:
        return "The document"
    named = next((part for part in reversed(path) if isinstance(part, str)), "")
    return f"An item of {shown(named)}" if isinstance(path[-1], int) else shown(named)


def _unknown(path: tuple[str | int, ...], error: Any) -> Iterator[Problem]:
    known = error.schema.get("properties", {})
    for key in [key for key in error.instance if key not in known]:
        noun = "operation" if key.startswith("$") else "key"
        hint = did_you_mean(key, known)
        if any(name.startswith("$") for name in known) and not key.startswith("$"):
            message = f"{shown(key)} is next to an operation; a binding is either a value or an operation."
            yield Problem((*path, key), message, key=True)
        else:
            yield Problem((*path, key), f"There is no {noun} {shown(key)} here.", hint, key=True)


def _type(error: Any) -> tuple[str, str]:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    hint = "Quote it." if wanted == ["string"] and not isinstance(error.instance, list | dict | None) else ""
    if error.path and error.path[-1] == "mode":
        hint = 'Quote it: "0644".'
    if wanted == ["object"] and error.schema.get("required") == ["max"]:
        hint = f"Write {{max: {shown(str(error.instance))}}}."
    return f"must be {_or([_KINDS[kind] for kind in wanted])}, not {_kind(error.instance)}", hint


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {shown(str(value))}"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else "null"


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _enum(error: Any) -> tuple[str, str]:
    choices = [str(choice) for choice in error.validator_value]
    given = error.instance
    hint = did_you_mean(given, choices) if isinstance(given, str) else ""
    return f"must be {_or(choices)}, not {shown(str(given))}", hint


def _required(error: Any) -> tuple[str, str]:
    missing = [key for key in error.validator_value if key not in error.instance]
    return f"lacks {_or(missing)}" if len(missing) == 1 else f"lacks {', '.join(missing)}", ""


def _min_properties(error: Any) -> tuple[str, str]:
    least = error.validator_value
    return ("must not be empty", "") if least == 1 else ("has too few keys", f"Write at least {least} keys.")


def _pattern(error: Any) -> tuple[str, str]:
    # An example is clearer than the pattern.
    examples = error.schema.get("examples")
    return f"does not have the form {f'of {examples[0]}' if examples else error.schema['pattern']}", ""


_WORDS: dict[str, Any] = {
    "type": _type,
    "enum": _enum,
    "required": _required,
    "const": lambda error: (f"can only be {str(error.validator_value).lower()}", ""),
    "not": lambda error: ("is a value, not an operation", ""),
    "minLength": lambda error: ("must not be empty", ""),
    "minItems": lambda error: ("must not be empty", ""),
    "minProperties": _min_properties,
    "maxProperties": lambda error: ("has two operations", "Use one of them."),
    "minimum": lambda error: (f"must be at least {error.validator_value}", ""),
    "maximum": lambda error: (f"must be at most {error.validator_value}", ""),
    "pattern": _pattern,
}


# The most that validation by a pushed schema can cost, computed from the schema.

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_OF_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_HERE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_BELOW = (
    *("properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("items", "prefixItems", "contains", "unevaluatedItems", "contentSchema"),
)
_ALL = (*_HERE, *_BELOW, "$defs", "definitions")
_MOST_STEPS = 10_000  # references can repeatedly double the parts that apply to one value
_MOST_CIRCLES = 8  # cycles back to a part at the same value: the engine follows them in every order
_A_PART = 5  # steps for each part

Path = tuple[str | int, ...]


class Weight(msgspec.Struct, frozen=True):
    """The steps and patterns for one value at most, or the reason why the schema must not be used."""

    refusal: str | None = None
    steps: int = 0
    patterns: int = 0


def weigh(schema: dict[str, Any]) -> Weight:
    """Return the weight of a schema. Whether it is valid is for the validator to decide."""
    parts = {id(part): part for _, part in parts_at(schema)}
    for part in parts.values():
        refusal = _outward(schema, part, parts)
        if refusal is not None:
            return Weight(refusal)
    steps = circles = patterns = 0
    for part, circle in _visits(schema):
        circles += circle
        steps += _A_PART + _length(part.get("enum"))
        patterns += ("pattern" in part) + ("format" in part) + _length(part.get("patternProperties"))
        if steps > _MOST_STEPS or circles > _MOST_CIRCLES:
            return Weight("its references multiply or form a cycle: validation might not finish.")
    return Weight(None, steps, patterns)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def parts_at(schema: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the schema and every schema in it with its path, without following references."""
    pending: list[tuple[Path, dict[str, Any]]] = [((), schema)]
    while pending:
        path, part = pending.pop()
        yield path, part
        pending += [((*path, *step), inner) for step, inner in _inner_at(part, _ALL)]


def _inner_at(part: dict[str, Any], keys: Iterable[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for key in keys:
        given = part.get(key)
        if key in _BY_NAME and isinstance(given, dict):
            yield from (((key, name), inner) for name, inner in given.items() if isinstance(inner, dict))
        elif key in _OF_MANY and isinstance(given, list):
            yield from (((key, at), inner) for at, inner in enumerate(given) if isinstance(inner, dict))
        elif key not in _BY_NAME and isinstance(given, dict):
            yield (key,), given


def _outward(root: dict[str, Any], part: dict[str, Any], parts: dict[int, Any]) -> str | None:
    """Return the reason why a part refers to something outside the schema, or None."""
    if str(part.get("$schema", _DRAFT)).rstrip("#") != _DRAFT:
        return "only draft 2020-12 is supported; remove `$schema`."
    if "$dynamicRef" in part or ("$id" in part and part is not root):
        return "`$dynamicRef`, and `$id` inside a schema, are not supported."
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return None
    target = _target(root, reference)
    if not isinstance(target, bool) and id(target) not in parts:
        return f"it refers to {reference[:60]!r}, but only its own definitions (#/$defs/NAME) are supported."
    return None


def _target(root: dict[str, Any], reference: str) -> Any:
    """Return what a reference such as `#/$defs/a` refers to, or None."""
    start, *steps = reference.split("/")
    place: Any = root if start == "#" else None
    for step in steps:
        place = _inside(place, step.replace("~1", "/").replace("~0", "~"))
    return place


def _inside(place: Any, key: str) -> Any:
    if isinstance(place, dict):
        return place.get(key)
    found = isinstance(place, list) and len(key) < 9 and key.isdecimal() and int(key) < len(place)
    return place[int(key)] if found else None


def _visits(root: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every part as often as it may apply to one value, and whether it already applied to that value.

    A part that contains itself further down is not entered again, since the engine remembers its results.
    """
    nowhere: frozenset[int] = frozenset()
    pending = [(root, nowhere, nowhere)]
    while pending:
        part, above, here = pending.pop()
        yield part, id(part) in here
        if id(part) in above:
            continue
        above, here = above | {id(part)}, here | {id(part)}
        reference = part.get("$ref")
        target = _target(root, reference) if isinstance(reference, str) else None
        if isinstance(target, dict):
            pending.append((target, above, here))
        pending += [(inner, above, here) for _, inner in _inner_at(part, _HERE)]
        pending += [(inner, above, nowhere) for _, inner in _inner_at(part, _BELOW)]


# Validation of documents and values: jsonschema-rs decides, jsonschema explains.

MOST = 20  # problems of a document that are reported one by one
_COUNTED = 200  # problems that are counted
_PRINTABLE = 10**100  # Python refuses to print integers of more than 4,300 digits
_MOST_WORK = 2 * 10**8  # a schema's steps times a value's characters: some seconds at worst
_MOST_MATCHED = 100_000  # patterns times characters: 40 us each at worst
_SHORT = 1000
_MOST_CHOICES = 1000  # characters of a message that lists all allowed values
_REGEX_BYTES = 1 << 19  # of a compiled expression; `.{1,255}` needs this
_ENTRIES = {"items": list, "additionalProperties": dict, "propertyNames": dict}
_MASK = "\0value\0"
_NO_JSON = "it has a number that JSON does not allow: infinite, not a number, or too large."
_MESSAGES = {
    "anyOf": f"{_MASK} matches none of the choices",
    "format": f"{_MASK} is not a regular expression, is too large, or uses look-around or a backreference",
}
FORMATS: Mapping[str, str] = {
    "date": "a date (2027-01-31)",
    "date-time": "a date and time with its zone (2027-01-31T08:00:00Z)",
    "duration": "a duration (PT30M)",
    "email": "a mail address",
    "hostname": "a host name",
    "idn-email": "a mail address",
    "idn-hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "iri": "a URI with its scheme",
    "iri-reference": "a URI or a relative reference",
    "json-pointer": "a JSON pointer (/a/0)",
    "regex": "a regular expression",
    "relative-json-pointer": "a relative JSON pointer (1/a)",
    "time": "a time with its zone (08:00:00Z)",
    "uri": "a URI with its scheme",
    "uri-reference": "a URI or a relative reference",
    "uri-template": "a URI template",
    "uuid": "a UUID",
}
"""All formats of JSON Schema, with their names for messages."""


def problems(kind: str, document: Any) -> tuple[Problem, ...]:
    """Return the problems of a document of this kind; none if it is valid.

    If there are more than 20 problems, the last one is about the document, and has the number of the others.
    """
    if _judge(kind).is_valid(document):
        return ()
    found = list(dict.fromkeys(islice(_explained(kind, _printable(document)), _COUNTED + 1)))
    if len(found) <= MOST:
        return tuple(found)
    count = len(found) - MOST if len(found) <= _COUNTED else f"more than {_COUNTED - MOST}"
    return (*found[:MOST], Problem((), f"The document has further mistakes: {count}."))


def _explained(kind: str, document: Any) -> Iterator[Problem]:
    explained = False
    for error in _explainer(kind).iter_errors(document):
        explained = True
        yield from describe_error(error)
    if explained:
        return
    try:  # jsonschema accepts it, as its `$` matches before a last newline too: jsonschema-rs has the reason
        _judge(kind).validate(document)
    except ValueError as error:
        path, reason = getattr(error, "instance_path", ()), getattr(error, "message", str(error))
        yield Problem(tuple(path), f"The value does not fit: {shown(reason)}.")


def _printable(value: Any) -> Any:
    """Return a value with integers that can be printed, since jsonschema quotes what it rejects."""
    if isinstance(value, dict):
        return {key: _printable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_printable(inner) for inner in value]
    large = type(value) is int and abs(value) > _PRINTABLE
    return (_PRINTABLE if value > 0 else -_PRINTABLE) if large else value


@cache
def _schema(kind: str) -> Any:
    return msgspec.json.decode(read_schema(kind))


@cache
def _judge(kind: str) -> Any:
    return _compiled(_schema(kind))


@cache
def _explainer(kind: str) -> Any:
    """Return jsonschema's validator. It takes 60 us an entry, so it looks only at entries that are wrong."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    root = _schema(kind)
    judges: dict[int, Any] = {}

    def wrong(part: Any, value: Any) -> bool:
        if id(part) not in judges:
            judges[id(part)] = _compiled({**part, "$defs": root.get("$defs", {})})
        return not judges[id(part)].is_valid(value)

    known = Draft202012Validator.VALIDATORS
    own = {keyword: _sifted(keyword, known[keyword], wrong) for keyword in _ENTRIES}
    types = Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number)
    extended: Any = extend(Draft202012Validator, own, type_checker=types)  # type: ignore[no-untyped-call]
    return extended(root)


def _sifted(keyword: str, whole: Any, wrong: Callable[[Any, Any], bool]) -> Any:
    """Return a keyword for all entries of a list or mapping that explains only the wrong ones."""

    def check(validator: Any, part: Any, given: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(part, dict) or not isinstance(given, _ENTRIES[keyword]):
            yield from whole(validator, part, given, schema)
            return
        for key, value in _entries(keyword, given, schema):
            if wrong(part, value):
                yield from validator.descend(value, part, path=None if keyword == "propertyNames" else key)

    return check


def _entries(keyword: str, given: Any, schema: Any) -> Iterable[tuple[Any, Any]]:
    """Return the entries that a keyword applies to, with their keys."""
    if keyword == "items":
        return enumerate(given)
    if keyword == "propertyNames":
        return ((key, key) for key in given)
    return ((key, value) for key, value in given.items() if key not in schema.get("properties", {}))


def _compiled(schema: Any) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(schema)


def _is_number(checker: Any, value: Any) -> bool:
    """Return whether a value is a number in JSON, which has no infinite ones; jsonschema-rs rejects these."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def unknown_formats(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the unknown formats in a schema, each with the path to it."""
    for path, part in parts_at(schema):
        form = part.get("format")
        if isinstance(form, str) and form not in FORMATS:
            yield (*path, "format"), form


class OwnSchema:
    """A parameter's own schema, compiled once. `refusal` is the reason why it is not valid or not usable."""

    def __init__(self, schema: dict[str, Any]) -> None:
        text = _json(schema)
        found: tuple[Any, Weight] = (None, Weight(_NO_JSON)) if text is None else _compile_own(text)
        self._judge, self._weight = found
        self.refusal = self._weight.refusal
        self._schema = schema

    def problem(self, value: Any) -> str | None:
        """Return why a value does not satisfy the schema, in the words of the validator."""
        if self._judge is None:
            return None
        size = _size(value)
        if size is None:
            return _NO_JSON
        if self._weight.steps * size > _MOST_WORK or self._weight.patterns * size > _MOST_MATCHED:
            return "it is too large to be validated with such a schema."
        if self._judge.is_valid(value):
            return None
        try:
            self._judge.validate(value)  # stops at the first error, since each error copies its value
        except ValueError as error:
            return _describe_refusal(error, self._schema)
        return None


def _size(value: Any) -> int | None:
    """Return the number of characters of a value as JSON, or None if JSON has no such value."""
    if isinstance(value, str) and len(value) < _SHORT:
        return 6 * len(value) + 2  # an upper limit, since writing every value would be slow
    text = _json(value)
    return None if text is None else len(text)


def _describe_refusal(error: Any, schema: Any = None) -> str:
    """Return the message of an error of jsonschema-rs, with the value in place of the mask."""
    kind = error.kind.name if hasattr(error, "kind") else ""
    message = _MESSAGES.get(kind, getattr(error, "message", str(error)))
    if kind == "enum":
        message = f"{_MASK} is not one of {_join_values(error.kind.options)}"
    elif kind == "contains":
        message = f"{_MASK} holds {_missing_item(schema, error.schema_path)}"
    elif kind == "format" and schema is not None and error.kind.format in FORMATS:
        message = f"{_MASK} is not {FORMATS[error.kind.format]}"
    value = shown(json.dumps(getattr(error, "instance", None), ensure_ascii=False))
    where = "/".join(map(str, getattr(error, "instance_path", ())))
    sentence = shown(message.replace(_MASK, value), _MOST_CHOICES if kind == "enum" else 160)
    return f"{sentence} (at {shown(where)})." if where else f"{sentence}."


def _join_values(values: Iterable[Any]) -> str:
    return ", ".join(value if isinstance(value, str) and value else json.dumps(value) for value in values)


def _missing_item(schema: Any, path: Iterable[Any]) -> str:
    """Return what a list lacks for `contains`, at a path in the schema."""
    for part in path:
        if isinstance(schema, dict | list):
            schema = schema.get(part) if isinstance(schema, dict) else schema[part]
    if isinstance(schema, dict) and "const" in schema:
        return f"no {_join_values([schema['const']])}"
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        return f"none of {_join_values(schema['enum'])}"
    return "no item that `contains` asks for"


def _json(value: Any) -> str | None:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _compile_own(text: str) -> tuple[Any, Weight]:
    """Return the validator of a pushed schema if it is valid, and what validation costs."""
    schema = json.loads(text)
    weight = weigh(schema)
    if weight.refusal is not None:
        return None, weight
    import jsonschema_rs

    try:
        # It fetches nothing, and its regular expressions take linear time.
        options = jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES)
        validator = jsonschema_rs.Draft202012Validator(
            schema, pattern_options=options, retriever=_fetch_nothing, mask=_MASK, validate_formats=True
        )
        return validator, weight
    except ValueError as error:
        return None, Weight(_describe_refusal(error))


def _fetch_nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is not in the schema")
