"""Schemas of a repository's parameters: what each is, and what may be bound to it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.editor.choices import MARK, Schema, family_patterns, has_unread, ref
from gitcfg.load.schema import OwnSchema
from gitcfg.model import Model, Op, Parameter, Undeclared
from gitcfg.model.names import PARAMETER
from gitcfg.model.rules import Domain
from gitcfg.model.text import escape_markdown, markdown_code

_ANNOTATIONS = frozenset({"title", "description", "examples", "default", "$comment", "deprecated"})
_PLAIN = frozenset(
    {
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
        *("required",),
    }
)
_ONE = frozenset({"not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"})
_MANY = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED = frozenset({"properties", "patternProperties"})
# What Rust, Python and JavaScript (with its flag u) all accept and read the same way.
_REGEX = re.compile(
    r"(?:[A-Za-z0-9_ /:,@%=#;<>~^$.|()*+?-]|\(\?:|\\[.*+?()\[\]{}|^$\\/]|\{[0-9]+(?:,[0-9]*)?\}"
    r"|\[\^?(?:[A-Za-z0-9_ /:,@%=#;<>.*+?$()]|[A-Za-z0-9]-[A-Za-z0-9]|\\[\\\]\[.^-])+-?\])*"
)


def convert_own_schema(schema: Any) -> Schema | bool | None:
    """Return the schema for an editor; None if an editor might read a keyword differently.

    One such keyword drops the whole schema: leaving it out under `not` or `if` would refuse more.
    """
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        return None
    result: Schema = {}
    for key, value in schema.items():
        if key in _ANNOTATIONS or key == "$schema":
            continue
        inner = _convert_inner(key, value) if _is_portable(key, value) else None
        if inner is None:
            return None
        result[key] = inner
    return result


def _is_portable(key: str, value: Any) -> bool:
    """Return whether all readers read this keyword the same way, apart from its subschemas."""
    if key == "pattern":
        return _is_portable_pattern(value)
    if key == "enum":
        # Editors accept no other `enum`.
        return bool(value) and all(value.index(item) == at for at, item in enumerate(value))
    if key == "multipleOf":
        return isinstance(value, int)  # editors divide fractions as floats
    if key == "patternProperties":
        return isinstance(value, dict) and all(map(_is_portable_pattern, value))
    return key in _PLAIN or key in _ONE or key in _MANY or key in _NAMED


def _is_portable_pattern(pattern: Any) -> bool:
    if not isinstance(pattern, str) or "(?" in pattern.replace("(?:", ""):
        return False
    return _REGEX.fullmatch(pattern) is not None


def _convert_inner(key: str, value: Any) -> Any:
    if key in _ONE:
        return convert_own_schema(value)
    if key in _MANY and isinstance(value, list):
        many = [convert_own_schema(part) for part in value]
        return None if None in many else many
    if key in _NAMED and isinstance(value, dict):
        named = {name: convert_own_schema(part) for name, part in value.items()}
        return None if None in named.values() else named
    return value


# What may be bound to a parameter of each type, as schemas: values, and the operations for them.

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
# The JSON type of values that the parameter's own schema judges, by the parameter's type. Text in place of a
# number or a list is excluded: its meaning is judged, and an editor does not know it.
_JUDGED = dict.fromkeys(("string", "expression", "path"), "string") | {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "map": "object",
}

SECRET = "binding-secret"
"""The name of the definition for parameters that are secret."""
# Text that only an instance can complete (`${as}`), at any depth: its final value is unknown.
MARKED: Schema = {
    "anyOf": [
        {"type": "string", "pattern": r"\$\{"},
        {"type": "array", "contains": ref("marked")},
        {"type": "object", "not": {"additionalProperties": {"not": ref("marked")}}},
    ]
}


def binding_schema(parameter: Parameter, plain: bool) -> Schema:
    """Return what may be bound to a parameter. `plain`: no operation implies a type if none is declared."""
    if parameter.secret:
        return ref(SECRET)
    unfit = parameter.schema is None or OwnSchema(parameter.schema).refusal is not None
    own = None if unfit else convert_own_schema(parameter.schema)
    binding = ref(binding_name(parameter))
    if own is None or own is True:
        return binding
    judged: Schema = {"if": _condition(parameter, plain), "then": own}
    by_default: Schema = {"if": {"type": "object", "required": ["$default"]}, "then": {}}
    by_default["then"]["properties"] = {"$default": judged}
    return {"allOf": [binding, judged, by_default]}


def binding_name(parameter: Parameter) -> str:
    """Return the name of the definition for a parameter's type."""
    if parameter.type is None:
        return "binding"
    return f"binding-{parameter.type}" + ("-macros" if _macros(parameter) else "")


def _macros(parameter: Parameter) -> bool:
    """Return whether text with macros needs a choice of its own: lists and text accept any text as it is."""
    any_text = (_SCALAR, ["array", *_SCALAR])
    return bool(parameter.macros) and _VALUES[parameter.type or ""]["type"] not in any_text


def _condition(parameter: Parameter, plain: bool) -> Schema:
    """Return which values the parameter's own schema judges as they are written."""
    condition: Schema = {"not": {"anyOf": [ref("marked"), {"type": "null"}]}}
    if parameter.type is not None:
        condition["type"] = _JUDGED[parameter.type]
    elif not plain:
        condition["type"] = "object"  # an operation that implies a list would read text as a list
    elif parameter.macros:
        condition["not"]["anyOf"].append({"type": "string", "pattern": _MACRO})
    return {**condition, "propertyNames": {"not": {"pattern": r"^\$"}}}


def default_schemas() -> list[Schema]:
    """Return schemas of defaults: none if a value is required or the parameter is secret."""
    none: Schema = {"properties": {"default": {"type": "null"}}}
    without = ({"properties": {key: {"const": True}}, "required": [key]} for key in ("must_change", "secret"))
    schemas: list[Schema] = [{"if": condition, "then": none} for condition in without]
    # A whole file may allow macros.
    others = [{"type": "null"}, {"type": "string", "pattern": _MACRO}]
    for kind, values in _VALUES.items():
        of_type = {"properties": {"type": {"const": kind}}, "required": ["type"]}
        schemas.append({"if": of_type, "then": {"properties": {"default": {"anyOf": [values, *others]}}}})
    return schemas


def type_schema(parameter: Parameter, operations: Mapping[str, Any]) -> Schema:
    """Return the definition for a parameter's type; `operations` are those of the program's own schema."""
    kind = parameter.type or ""
    value = _VALUES[kind]
    if _macros(parameter):
        value = {"anyOf": [value, {"type": "string", "pattern": _MACRO}]}
    known = {name: operations[name] for name in (*_COMPOSING.get(kind, ()), *_ALWAYS)}
    operands = {"$default": value}  # those of which more is known than that they are values
    if kind == "expression":
        operands |= {"$and": _TEXT, "$or": _TEXT}
    if kind == "map":
        operands |= {"$merge": value}
    for name, operand in operands.items():
        known[name] = {"description": operations[name]["description"], **operand}
    operation: Schema = {"properties": known, "additionalProperties": False, "maxProperties": 1}
    unmarked = {
        "if": {"type": "object", **_OPERATION},
        "then": operation,
        "else": {"if": {"not": {"type": "null"}}, "then": value},
    }
    return {"if": ref("marked"), "then": ref("binding"), "else": unmarked}


def secret_schema(operations: Mapping[str, Any]) -> Schema:
    """Return the definition for a parameter to which only secrets may be bound."""
    known = {name: operations[name] for name in _OF_SECRETS}
    operation: Schema = {"type": "object", "properties": known, "additionalProperties": False}
    unmarked = {"anyOf": [{"type": "null"}, {**operation, "maxProperties": 1, "minProperties": 1}]}
    return {"if": ref("marked"), "then": ref("binding"), "else": unmarked}


# What an editor shows of a parameter under the mouse pointer, as Markdown.

_LEVELS = ("", "for experts", "for developers")
_LONGEST = 400  # characters of a default or a schema


Confined = Mapping[str, Domain]
"""The values that a parameter may have, by rule."""
_NO_RULES: Confined = {}


def hover_text(parameter: Parameter, confined: Confined = _NO_RULES) -> str:
    """Return its description, then its declaration and what rules say, one line each."""
    text = "\n".join(map(escape_markdown, parameter.description.strip().split("\n")))
    facts = "\n".join(f"- {fact}" for fact in (*_facts(parameter), *_rules(parameter, confined)))
    return f"{text}\n\n{facts}" if parameter.description else facts


def _rules(parameter: Parameter, confined: Confined) -> Iterator[str]:
    """Yield what rules allow, one line each; values of a secret parameter are not shown."""
    for rule, domain in confined.items():
        values = "" if parameter.secret else f": {markdown_code(_json(domain.items))}"
        of = f" of {markdown_code(domain.name)}" if domain.name != parameter.name else ""
        yield f"values{of} by the rule {markdown_code(rule)}{values}"


def _facts(parameter: Parameter) -> Iterator[str]:
    if parameter.pattern:
        yield f"declared by the family {markdown_code(parameter.name)}"
    yield f"type: {parameter.type}" if parameter.type else "any type"
    if parameter.secret:
        yield "**secret**: its value must be `{$secret: NAME}`"
    elif parameter.default is not None:
        yield f"default: {markdown_code(_json(parameter.default.given))}"
    if parameter.must_change:
        yield "**must be changed**: each layer that sets it must set a value"
    if parameter.schema is not None:
        yield f"schema: {markdown_code(_json(parameter.schema))}"
    if parameter.restart:
        yield "a change needs a restart"
    for word, names in (("needs", parameter.depends), ("conflicts with", parameter.conflicts)):
        if names:
            yield f"{word} " + ", ".join(markdown_code(name.name) for name in names)
    if parameter.level:
        yield _LEVELS[parameter.level]


def _json(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


# The parameters of a repository as the properties of `params:`, each with what may be bound to it.


def params_schema(model: Model, description: str) -> Schema:
    """Return the schema of `params:`: parameters by name and family, each with what may be bound to it."""
    known = Declarations(model.parameters, implied_kinds(model.bindings()))
    confined = _confined(model, known)
    exact = {name: one for name, one in model.parameters.items() if not one.pattern}
    families = family_patterns(known.families, exact)
    closed = model.settings.undeclared is Undeclared.ERROR and not has_unread(model, "parameters")
    other: Schema = {
        "description": "The setting of the parameter in this layer: a value, null, or one operation.",
        **ref("binding"),
    }
    marked = {
        "description": "The values of the parameters that instances make of this name.",
        **ref("binding"),
    }
    legal: Schema = {"anyOf": [{"pattern": f"^{PARAMETER.pattern}$"}, {"pattern": MARK}]}
    return {
        "type": "object",
        "description": description,
        "properties": {
            name: _entry(exact[name], known.kind(name) is None, confined.get(name, {}))
            for name in sorted(exact)
        },
        "patternProperties": {
            MARK: marked,
            **{pattern: _entry(one, False, confined.get(one.name, {})) for pattern, one in families.items()},
        },
        **(
            {"additionalProperties": False}
            if closed
            else {"additionalProperties": other, "propertyNames": legal}
        ),
    }


def _confined(model: Model, known: Declarations) -> dict[str, dict[str, Domain]]:
    """Return the values that rules leave to parameters, by declaration and rule."""
    found: dict[str, dict[str, Domain]] = {}
    for rule in model.rules.values():
        for domain in rule.domains.values() if rule.over is None else ():
            declared = known.find(domain.name)
            if declared is not None:
                found.setdefault(declared.name, {})[rule.name] = domain
    return found


def _entry(parameter: Parameter, plain: bool, confined: Mapping[str, Domain]) -> Schema:
    entry: Schema = {"title": parameter.name, "markdownDescription": hover_text(parameter, confined)}
    entry |= binding_schema(parameter, plain)
    default = parameter.default
    if default is not None and default.op is Op.SET and not (parameter.must_change or parameter.secret):
        entry["default"] = default.given
    examples = (parameter.schema or {}).get("enum")
    if not isinstance(examples, list):
        examples = [True, False] if parameter.type == "boolean" else []
    return {**entry, "examples": examples} if examples else entry
