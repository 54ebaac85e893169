"""The parameters of a repository as the properties of `params:`: what each is, and what may be bound."""

from collections.abc import Mapping
from typing import Any

from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.editor.base import Schema, ref
from gitcfg.editor.choices import has_unread
from gitcfg.editor.families import MARK, family_patterns
from gitcfg.editor.hover import hover_text
from gitcfg.editor.values import binding_schema
from gitcfg.model import Model, Op, Parameter, Undeclared
from gitcfg.model.names import PARAMETER
from gitcfg.model.rules import Domain


def params_schema(model: Model, description: str) -> Schema:
    """Parameters by name and family, each with what may be bound to it."""
    known = Declarations(model.parameters, implied_kinds(model.bindings()))
    confined = _confined(model, known)
    exact = {name: one for name, one in model.parameters.items() if not one.pattern}
    families = family_patterns(known.families, exact)
    closed = model.settings.undeclared is Undeclared.ERROR and not has_unread(model, "parameters")
    other: Schema = {
        "description": "What this layer says of the parameter: a value, null, or one operation.",
        **ref("binding"),
    }
    marked = {
        "description": "What instances bind to the parameters that they make of this name.",
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
    """By declaration and rule, the values that rules leave to parameters; not to attributes of instances."""
    found: dict[str, dict[str, Domain]] = {}
    for rule in model.rules.values():
        for domain in rule.domains.values() if rule.over is None else ():
            declared = known.find(domain.name)
            if declared is not None:
                found.setdefault(declared.name, {})[rule.name] = domain
    return found


def _entry(parameter: Parameter, plain: bool, confined: Mapping[str, Domain]) -> Schema:
    said = {"title": parameter.name, "markdownDescription": hover_text(parameter, confined)}
    entry: Schema = {**said, **binding_schema(parameter, plain)}
    default = parameter.default
    if default is not None and default.op is Op.SET and not (parameter.must_change or parameter.secret):
        entry["default"] = default.given
    offered = _offered(parameter)
    return {**entry, "examples": offered} if offered else entry


def _offered(parameter: Parameter) -> list[Any]:
    """Values that an editor can offer."""
    said = (parameter.schema or {}).get("enum")
    if isinstance(said, list):
        return said
    return [True, False] if parameter.type == "boolean" else []
