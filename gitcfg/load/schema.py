"""Documents and values judged by JSON Schemas: jsonschema-rs decides, jsonschema explains."""

from functools import cache
from itertools import islice
from typing import Any

import msgspec

from gitcfg import bundled
from gitcfg.load.problems import Problem, described

MOST = 20
_LOCAL = "#"


def problems(kind: str, document: Any) -> tuple[Problem, ...]:
    """What keeps a document from being one of its kind; nothing if it is."""
    if _judge(kind).is_valid(document):
        return ()
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(_schema(kind)).iter_errors(document)
    found = [problem for error in islice(errors, MOST) for problem in described(error)]
    return tuple(dict.fromkeys(found))


@cache
def _schema(kind: str) -> Any:
    return msgspec.json.decode(bundled.schema(kind))


@cache
def _judge(kind: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(_schema(kind))


def schema_problem(schema: dict[str, Any]) -> str | None:
    """Why a parameter's own schema is none, or must not be used; None if it is sound."""
    return _own(_key(schema))[1]


def value_problem(schema: dict[str, Any], value: Any) -> str | None:
    """Why a value does not satisfy a sound schema, in the words of the validator."""
    judge = _own(_key(schema))[0]
    if judge is None or judge.is_valid(value):
        return None
    first = next(iter(judge.iter_errors(value)))
    where = "/".join(map(str, first.instance_path))
    message = first.message if len(first.message) <= 160 else first.message[:157] + "..."
    return f"{message} (at {where})." if where else f"{message}."


def _key(schema: dict[str, Any]) -> bytes:
    return msgspec.json.encode(schema)


@cache
def _own(key: bytes) -> tuple[Any, str | None]:
    """A validator for a schema that somebody pushed, or the reason why there is none."""
    import jsonschema_rs

    schema = msgspec.json.decode(key)
    foreign = _foreign(schema)
    if foreign is not None:
        return None, f"it refers to {foreign[:60]}; only references within it (#...) are followed."
    try:
        options = jsonschema_rs.RegexOptions()  # the linear engine: a hostile pattern cannot hang it
        judge = jsonschema_rs.Draft202012Validator(schema, pattern_options=options)
    except ValueError as error:
        return None, f"{str(error).splitlines()[0][:160]}."
    return judge, None


def _foreign(value: Any) -> str | None:
    """A reference that leads out of the schema, if there is one."""
    if isinstance(value, list):
        return next((found for found in map(_foreign, value) if found is not None), None)
    if not isinstance(value, dict):
        return None
    for key in ("$ref", "$dynamicRef", "$schema"):
        target = value.get(key)
        if isinstance(target, str) and not target.startswith(_LOCAL) and key != "$schema":
            return target
    return _foreign(list(value.values()))
