"""What may be bound to a parameter of each type, as schemas: values and the operations that fit them."""

from collections.abc import Mapping
from typing import Any

from gitcfg.editor.base import Schema, ref
from gitcfg.editor.own import convert_own_schema
from gitcfg.load.schema import OwnSchema
from gitcfg.model import Parameter

_INTEGER = r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
_NUMBER = rf"{_INTEGER}|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_BOOLEAN = "[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]"
_SCALAR = ["string", "number", "boolean"]
_TEXT: Schema = {"type": _SCALAR}
_MACRO = r"\$\("
_OPERATION: Schema = {"not": {"propertyNames": {"not": {"pattern": r"^\$"}}}}
_VALUES: Mapping[str, Schema] = {
    "string": _TEXT,
    "expression": _TEXT,
    "path": _TEXT,
    "integer": {"type": ["integer", "string"], "pattern": f"^({_INTEGER})$"},
    "number": {"type": ["number", "string"], "pattern": f"^({_NUMBER})$"},
    "boolean": {"type": ["boolean", "string"], "pattern": f"^({_BOOLEAN})$"},
    "list": {"type": ["array", *_SCALAR]},
    "map": {"type": "object"},
}
_COMPOSING: Mapping[str, tuple[str, ...]] = {
    "list": ("$append", "$prepend", "$remove"),
    "expression": ("$and", "$or"),
    "map": ("$merge",),
}
_ALWAYS = ("$unset", "$fact", "$default", "$secret", "$collect")
_OF_SECRETS = ("$unset", "$secret")
# As what JSON type a value of each type is judged by the parameter's own schema. Text that stands for a
# number, or for a list, is not: what it stands for is judged, and an editor does not know it.
_JUDGED = dict.fromkeys(("string", "expression", "path"), "string") | {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "map": "object",
}

SECRET = "binding-secret"
"""The name of the definition for parameters that are secret."""
# Text that only an instance can complete (`${as}`), however deep: nothing is known of what it becomes.
MARKED: Schema = {
    "anyOf": [
        {"type": "string", "pattern": r"\$\{"},
        {"type": "array", "contains": ref("marked")},
        {"type": "object", "not": {"additionalProperties": {"not": ref("marked")}}},
    ]
}


def binding_schema(parameter: Parameter, plain: bool) -> Schema:
    """What may be bound to a parameter. `plain`: without a declared type no operation implies one."""
    if parameter.secret:
        return ref(SECRET)
    own = None if _unfit(parameter.schema) else convert_own_schema(parameter.schema)
    binding = ref(binding_name(parameter))
    if own is None or own is True:
        return binding
    judged: Schema = {"if": _condition(parameter, plain), "then": own}
    by_default: Schema = {"if": {"type": "object", "required": ["$default"]}, "then": {}}
    by_default["then"]["properties"] = {"$default": judged}
    return {"allOf": [binding, judged, by_default]}


def _unfit(schema: dict[str, Any] | None) -> bool:
    """Is there no schema, or one by which nothing is judged?"""
    return schema is None or OwnSchema(schema).refusal is not None


def binding_name(parameter: Parameter) -> str:
    """The name of the definition for a parameter's type."""
    if parameter.type is None:
        return "binding"
    return f"binding-{parameter.type}" + ("-macros" if _macros(parameter) else "")


def _macros(parameter: Parameter) -> bool:
    """May text with macros stand for its values? A list and text take any text as it is."""
    return bool(parameter.macros) and _VALUES[parameter.type or ""]["type"] not in (
        _SCALAR,
        ["array", *_SCALAR],
    )


def _condition(parameter: Parameter, plain: bool) -> Schema:
    """Which values are judged by the parameter's own schema, as they are written."""
    condition: Schema = {"not": {"anyOf": [ref("marked"), {"type": "null"}]}}
    if parameter.type is not None:
        condition["type"] = _JUDGED[parameter.type]
    elif not plain:
        condition["type"] = "object"  # what implies a list would read text as one
    elif parameter.macros:
        condition["not"]["anyOf"].append({"type": "string", "pattern": _MACRO})
    return {**condition, "propertyNames": {"not": {"pattern": r"^\$"}}}


def default_schemas() -> list[Schema]:
    """What a declaration's default may be: none where it must be changed or is secret, else of its type."""
    none: Schema = {"properties": {"default": {"type": "null"}}}
    without = ({"properties": {key: {"const": True}}, "required": [key]} for key in ("must_change", "secret"))
    return [*({"if": said, "then": none} for said in without), *map(_default, _VALUES)]


def _default(kind: str) -> Schema:
    # Macros may be allowed for the whole file.
    others = [{"type": "null"}, {"type": "string", "pattern": _MACRO}]
    said: Schema = {"properties": {"default": {"anyOf": [_VALUES[kind], *others]}}}
    return {"if": {"properties": {"type": {"const": kind}}, "required": ["type"]}, "then": said}


def type_schema(parameter: Parameter, operations: Mapping[str, Any]) -> Schema:
    """The definition for a parameter's type; `operations` are those that the program's own schema knows."""
    kind = parameter.type or ""
    value = _VALUES[kind]
    if _macros(parameter):
        value = {"anyOf": [value, {"type": "string", "pattern": _MACRO}]}
    known = {name: operations[name] for name in (*_COMPOSING.get(kind, ()), *_ALWAYS)}
    for name, said in _narrowed(kind, value).items():
        known[name] = {"description": operations[name]["description"], **said}
    operation: Schema = {"properties": known, "additionalProperties": False, "maxProperties": 1}
    said = {
        "if": {"type": "object", **_OPERATION},
        "then": operation,
        "else": {"if": {"not": {"type": "null"}}, "then": value},
    }
    return {"if": ref("marked"), "then": ref("binding"), "else": said}


def secret_schema(operations: Mapping[str, Any]) -> Schema:
    """The definition for a parameter to which only secrets may be bound."""
    known = {name: operations[name] for name in _OF_SECRETS}
    operation: Schema = {"type": "object", "properties": known, "additionalProperties": False}
    said = {"anyOf": [{"type": "null"}, {**operation, "maxProperties": 1, "minProperties": 1}]}
    return {"if": ref("marked"), "then": ref("binding"), "else": said}


def _narrowed(kind: str, value: Schema) -> dict[str, Schema]:
    """The operands of operations of which more is known than that they are values."""
    found = {"$default": value}
    if kind == "expression":
        found |= {"$and": _TEXT, "$or": _TEXT}
    if kind == "map":
        found |= {"$merge": value}
    return found
