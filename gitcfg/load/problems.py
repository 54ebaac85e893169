"""What is wrong with a document, in the words of people who write YAML."""

from collections.abc import Iterator
from typing import Any

import msgspec

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
    """One thing wrong: `path` leads to the value, or to the key at its end if `key`."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""
    key: bool = False


def described(error: Any) -> Iterator[Problem]:
    """A validation error of jsonschema as problems."""
    path = tuple(error.absolute_path)
    words = _WORDS.get(error.validator)
    if error.validator == "additionalProperties":
        yield from _unknown(path, error)
    elif error.validator == "oneOf":
        keys = _or([choice["required"][0] for choice in error.validator_value])
        yield Problem(path, f"One of {keys} must be said, and only one.")
    elif error.validator == "not" and not error.validator_value:
        yield Problem(
            path, f"{_name(path)} has no place here.", error.schema.get("description", ""), key=True
        )
    elif words is None:
        yield Problem(path, f"{_name(path)} does not fit: {shown(error.message)}.")
    else:
        message, hint = words(error)
        yield Problem(path, f"{_name(path)} {message}.", hint)


def _name(path: tuple[str | int, ...]) -> str:
    """What a message calls the value at a path."""
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
            message = f"{shown(key)} stands beside an operation; a binding is one or the other."
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


def _few(least: int) -> tuple[str, str]:
    return ("must not be empty", "") if least == 1 else ("says too little", f"Say {least} keys or more.")


def _form(schema: Any) -> str:
    """What a pattern asks for: an example of it says more than the pattern."""
    return f"of {schema['examples'][0]}" if schema.get("examples") else str(schema["pattern"])


_WORDS: dict[str, Any] = {
    "type": _type,
    "enum": _enum,
    "required": _required,
    "const": lambda error: (f"takes only {str(error.validator_value).lower()}", ""),
    "not": lambda error: ("is a value, not an operation", ""),
    "minLength": lambda error: ("must not be empty", ""),
    "minItems": lambda error: ("must not be empty", ""),
    "minProperties": lambda error: _few(error.validator_value),
    "maxProperties": lambda error: ("holds two operations", "Say one of them."),
    "minimum": lambda error: (f"must be at least {error.validator_value}", ""),
    "maximum": lambda error: (f"must be at most {error.validator_value}", ""),
    "pattern": lambda error: (f"does not have the form {_form(error.schema)}", ""),
}
